import NearbyCore

extension Limits {
    /// Sessions of one process.
    public static let sessionsMax = 64
    /// Members of one session beside ourselves, those that are connecting or lost among them.
    public static let sessionMembersMax = 256
    /// Of those, the ones that one member told us of and that have not connected yet.
    public static let introducedMembersMax = 64
    /// Invitations that wait for our program's answer: of all peers, and of one.
    public static let invitationsMax = 64
    public static let invitationsOfAPeerMax = 4
    /// Invitations of ours that wait for an answer.
    public static let ownInvitationsMax = 256
    /// An invitation's context, bytes.
    public static let contextBytesMax = 512
    /// A chain of certificates: how many, and bytes of all together.
    public static let certificatesMax = 8
    public static let certificateBytesMax = 16_384
    /// A signature under what a member says of itself, bytes.
    static let proofBytesMax = 1_024
    /// Members named in one message.
    static let introductionsMax = 40
    /// How long an invitation waits unless it says otherwise, and at most.
    public static let invitationTime = Duration.seconds(30)
    public static let invitationTimeMax = Duration.seconds(3_600)
    /// How long an answer is remembered, in case the invitation comes again.
    static let answerMemory = Duration.seconds(60)
    /// How long two members may take to connect once one has begun.
    static let connectTime = Duration.seconds(30)
    /// A member that was lost is taken back without an invitation for so long.
    static let lostMemberTime = Duration.seconds(600)
}
