import NearbyCore
import NearbyWire

/// What a session was opened with.
public struct SessionTerms: Sendable {
    public var preference: EncryptionPreference
    /// What vouches for us; nil: nothing.
    public var identity: (any SessionIdentity)?
    /// Whether the program is asked about each member's certificates; otherwise all are accepted.
    public var asksAboutCertificates: Bool

    public init(
        preference: EncryptionPreference = .required, identity: (any SessionIdentity)? = nil,
        asksAboutCertificates: Bool = false
    ) {
        self.preference = preference
        self.identity = identity
        self.asksAboutCertificates = asksAboutCertificates
    }
}

/// Certificates, and the key of the first of them.
public protocol SessionIdentity: Sendable {
    /// DER, our own first.
    var certificates: [[UInt8]] { get }
    func sign(_ bytes: [UInt8]) -> [UInt8]
}

extension SessionIdentity {
    /// Whether others take that many certificates of that size.
    var isSendable: Bool {
        certificates.count <= Limits.certificatesMax
            && certificates.reduce(0) { $0 + $1.count } <= Limits.certificateBytesMax
    }
}

/// Whether a certificate's key made a signature.
public protocol ProofVerifier: Sendable {
    /// - Parameter certificate: DER, from outside.
    func isValid(_ proof: [UInt8], of bytes: [UInt8], by certificate: [UInt8]) -> Bool
}

/// A session of our own and its members.
struct LocalSession: Sendable {
    let number: SessionNumber
    let id: SessionID
    let terms: SessionTerms
    /// At most `Limits.sessionMembersMax`.
    var members: [PeerID: Member] = [:]

    var connected: [GroupMember] {
        members.filter { $0.value.isConnected }
            .map { GroupMember(peer: $0.key, session: $0.value.session) }
            .sorted { $0.peer < $1.peer }
    }

    /// Those that a member told of and that are not connected.
    func introducedCount(by introducer: PeerID) -> Int {
        members.values.count { $0.introducer == introducer && !$0.isConnected }
    }
}

/// What it says to its members.
extension LocalSession {
    /// Nil for somebody who is no member.
    func pair(with peer: PeerID) -> SessionPair? {
        members[peer].map { SessionPair(from: id, to: $0.session) }
    }

    func connectMessage(from own: PeerID, to peer: PeerID, isAnswer: Bool) -> GroupMessage? {
        guard let member = members[peer], let pair = pair(with: peer) else { return nil }
        let credentials = Credentials(of: terms.identity, from: own, to: peer, pair)
        return .connect(
            GroupConnect(
                pair: pair, number: member.number, preference: terms.preference,
                isAnswer: isAnswer, credentials: credentials))
    }

    /// Who else is there, as many in each message as fit.
    func introductions(of others: [GroupMember], to peer: PeerID) -> [GroupMessage] {
        guard let pair = pair(with: peer) else { return [] }
        return stride(from: 0, to: others.count, by: Limits.introductionsMax).map { first in
            let end = min(first + Limits.introductionsMax, others.count)
            return .members(pair, Array(others[first..<end]))
        }
    }
}

extension GroupConnect {
    /// Whether the peer has the key of the certificate that it shows; also where it shows none.
    func isProved(from peer: PeerID, to own: PeerID, by verifier: any ProofVerifier) -> Bool {
        guard let certificate = credentials.certificates.first else { return true }
        let signed = Credentials.signedBytes(from: peer, to: own, pair)
        return verifier.isValid(credentials.proof, of: signed, by: certificate)
    }

    /// Tells a peer that there is no place for its session.
    func refusal(_ reason: GroupEnd, to peer: PeerID) -> GroupOutput {
        .sendReliable(GroupMessage.end(pair.reversed, reason).bytes, to: peer)
    }
}

/// A peer's session as one of ours sees it.
struct Member: Sendable {
    /// How far two sessions are from being connected.
    struct Connecting: Sendable {
        var deadline: Instant
        /// Theirs, once their `connect` came.
        var theirNumber: UInt16?
        /// We take their certificates.
        var isAccepted = false
        /// They take ours.
        var isReady = false
        /// The program was asked about the certificates.
        var isAsked = false
    }

    enum Phase: Sendable {
        case connecting(Connecting)
        /// With the number that data for them carry.
        case connected(theirNumber: UInt16)
        /// Out of reach since; until then it is taken back as it comes.
        case lost(until: Instant)
    }

    let session: SessionID
    /// What they write before data for us.
    let number: UInt16
    /// The member that told us of it; nil: we or it invited.
    let introducer: PeerID?
    var phase: Phase
    /// How often it did not answer, and when it is asked again.
    var retries = 0
    var retryAt: Instant?

    /// What the program is told when the other side ends it.
    func toldOfEnd(_ reason: GroupEnd, _ peer: PeerID, _ number: SessionNumber) -> [GroupOutput] {
        if case .lost = phase { return [] }
        let isPlain = isConnected || reason == .left
        return (isPlain ? [] : [.event(.declined(peer, number, .ended(reason)))])
            + [.event(.state(peer, number, .notConnected))]
    }

    /// It did not answer in time. Somebody whom a member told of is tried again later.
    ///
    /// - Returns: false if it is not.
    mutating func rest(_ now: Instant) -> Bool {
        guard introducer != nil, isConnecting, retries < Limits.introductionRetriesMax else {
            return false
        }
        let retry = now + Limits.introductionPause * (1 << retries)
        retries += 1
        retryAt = retry
        phase = .lost(until: retry + Limits.lostMemberTime)
        return true
    }

    /// What was said so far may not have arrived; a connected one may come back.
    ///
    /// - Returns: when something is to be done about it; nil: it was lost already.
    mutating func wentOutOfReach(_ now: Instant) -> Instant? {
        switch phase {
        case .connecting(let connecting):
            phase = .connecting(.init(deadline: connecting.deadline))
            return connecting.deadline
        case .connected:
            phase = .lost(until: now + Limits.lostMemberTime)
            return now + Limits.lostMemberTime
        case .lost: return nil
        }
    }

    /// Both sides take each other.
    ///
    /// - Returns: false if they do not, or did before.
    mutating func connectIfAgreed() -> Bool {
        guard case .connecting(let connecting) = phase, connecting.isAccepted, connecting.isReady,
            let theirNumber = connecting.theirNumber
        else { return false }
        phase = .connected(theirNumber: theirNumber)
        return true
    }

    var isConnected: Bool {
        if case .connected = phase { return true }
        return false
    }

    /// Out of reach.
    var isLost: Bool {
        if case .lost = phase { return true }
        return false
    }

    var isConnecting: Bool {
        if case .connecting = phase { return true }
        return false
    }

    var deadline: Instant? {
        switch phase {
        case .connecting(let connecting): connecting.isAsked ? nil : connecting.deadline
        case .connected: nil
        case .lost(let until): min(until, retryAt ?? until)
        }
    }
}

/// Whom data with a number of ours are from, and for which session.
struct DataTarget: Sendable {
    var session: SessionNumber
    var peer: PeerID
}

// MARK: What the program tells members

extension LocalSession {
    func send(_ data: [UInt8], to peer: PeerID, _ isReliable: Bool) -> [GroupOutput] {
        guard case .connected(let theirNumber)? = members[peer]?.phase else {
            return [.drop(.groupNotConnected)]
        }
        guard isReliable else {
            let bytes = GroupMessage.data(number: theirNumber, data[...]).bytes
            return [.sendUnreliable(bytes, to: peer)]
        }
        return GroupMessage.parts(of: data, theirNumber).map { .sendReliable($0.bytes, to: peer) }
    }

    /// Lost with the connection, as all that was said over it: then nobody holds anything back.
    func hold(_ peer: PeerID, _ isHeld: Bool) -> [GroupOutput] {
        guard case .connected(let theirNumber)? = members[peer]?.phase else { return [] }
        return [.sendReliable(GroupMessage.hold(number: theirNumber, isHeld).bytes, to: peer)]
    }
}
