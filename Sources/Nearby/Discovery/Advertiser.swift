import NearbyCore
import NearbyGroups
import NearbyWire
import Synchronization

/// Makes a peer known to browsers of a service, and hands over their invitations.
public final class Advertiser: Sendable {
    let advertised: Advertised

    /// - Throws: `.invalidParameter` if the discovery info is too large or the peer is not our own.
    public init(
        peer: Peer, discoveryInfo: [String: String] = [:], service: Service
    ) throws(NearbyError) {
        advertised = Advertised(
            own: try OwnPeer(peer), info: try DiscoveryInfo(discoveryInfo), service: service)
    }

    /// What keeps it from starting is told by `failures`. Started already, it does nothing.
    ///
    /// - Throws: `.unavailable` if the process is out of threads or descriptors.
    public func start() throws(NearbyError) {
        try Background.shared.post(.advertise(advertised, true))
    }

    /// Sessions that came of it stay.
    public func stop() { Background.shared.postIfRunning(.advertise(advertised, false)) }

    /// Those that wait for an answer: at most 64 at a time, 4 of one peer; more are refused.
    public var invitations: Events<Invitation> { Events(queue: advertised.invitations) }

    /// That it did not start, or works no longer; the latest 16.
    public var failures: Events<NearbyError> { Events(queue: advertised.failures) }

    deinit {
        stop()
        advertised.invitations.finish()
        advertised.failures.finish()
    }
}

/// What the background thread knows of an advertiser.
final class Advertised: Sendable {
    let own: OwnPeer
    let info: DiscoveryInfo
    let service: Service
    let invitations = EventQueue<Invitation>(count: Limits.invitationsMax)
    let failures = EventQueue<NearbyError>(count: 16)

    init(own: OwnPeer, info: DiscoveryInfo, service: Service) {
        self.own = own
        self.info = info
        self.service = service
    }
}

/// Asks whether to join the session of another peer. It is answered once, later answers do
/// nothing; one that goes without an answer is declined.
public final class Invitation: Sendable {
    /// Who invites.
    public let peer: Peer
    /// What the inviter sent along, at most 16 KiB.
    public let context: [UInt8]
    private let own: OwnPeer
    private let id: InvitationID
    private let state = Mutex((isAnswered: false, isWithdrawn: false))

    init(_ id: InvitationID, from peer: Peer, context: [UInt8], to own: OwnPeer) {
        self.id = id
        self.peer = peer
        self.context = context
        self.own = own
    }

    /// Joins with a session of the peer that was invited.
    ///
    /// - Throws: `.invalidParameter` if it is another peer's, `.timedOut` if the invitation was
    ///   withdrawn.
    public func accept(with session: Session) throws(NearbyError) {
        guard session.peer == own.peer else {
            throw NearbyError(
                .invalidParameter,
                "\(own.peer) was invited, and the session is \(session.peer)'s: make one for it")
        }
        guard !isWithdrawn else {
            throw NearbyError(.timedOut, "\(peer) no longer waits for an answer")
        }
        guard becomesAnswered() else { return }
        try Background.shared.post(.answer(id, session.opened, own))
    }

    /// Refuses it: the inviter is told. What is let go without an answer is refused as well.
    public func decline() {
        guard becomesAnswered() else { return }
        Background.shared.postIfRunning(.answer(id, nil, own))
    }

    /// The inviter's time is over, or it thought better of it.
    public var isWithdrawn: Bool { state.withLock { $0.isWithdrawn } }

    func withdraw() { state.withLock { $0.isWithdrawn = true } }

    private func becomesAnswered() -> Bool {
        state.withLock { state in
            defer { state.isAnswered = true }
            return !state.isAnswered
        }
    }

    deinit { decline() }
}
