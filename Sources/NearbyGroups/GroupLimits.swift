import NearbyCore

extension Limits {
    /// Sessions of one process.
    public static let sessionsMax = 64
    /// Members of one session beside ourselves, those that are connecting or lost among them.
    public static let sessionMembersMax = 256
    /// Of those, the ones that one member told us of and that are not connected.
    static let introducedMembersMax = 64
    /// Invitations that wait for our program's answer: of all peers, and of one.
    public static let invitationsMax = 64
    static let invitationsOfAPeerMax = 4
    /// Invitations of ours that wait for an answer.
    static let ownInvitationsMax = 256
    /// An invitation's context, bytes: programs send archives of whole objects.
    public static let contextBytesMax = 16_384
    /// A chain of certificates: how many, and bytes of all together.
    public static let certificatesMax = 8
    public static let certificateBytesMax = 16_384
    /// A signature under what a member says of itself, bytes.
    static let proofBytesMax = 1_024
    /// A program's reliable message, bytes, and one part of it: what a node sends as one message.
    public static let groupMessageBytesMax = 7 << 20
    static let groupPartBytesMax = 1 << 19
    /// Parts of messages that are not whole yet, of all members together, bytes.
    static let groupPartsBytesMax = 64 << 20
    /// Members named in one message.
    static let introductionsMax = 40
    /// How long an invitation waits unless it says otherwise, and at most.
    static let invitationTime = Duration.seconds(30)
    static let invitationTimeMax = Duration.seconds(3_600)
    /// How long an invitation that needs encryption waits for it on a channel that has none.
    static let encryptionTime = Duration.seconds(3)
    /// How long an answer is remembered, in case the invitation comes again.
    static let answerMemory = Duration.seconds(60)
    /// How long two members may take to connect once one has begun.
    static let connectTime = Duration.seconds(30)
    /// Somebody whom a member told of, and who did not answer, is asked again after so long, then
    /// after twice as long, and so on, so many times.
    static let introductionPause = Duration.seconds(15)
    static let introductionRetriesMax = 6
    /// What one peer may say `connect`, in the time: all its sessions twice.
    static let connectsOfAPeerMax = 2 * sessionsMax
    static let connectsTime = Duration.seconds(10)
    /// A member that was lost is taken back without an invitation for so long.
    static let lostMemberTime = Duration.seconds(600)
}
