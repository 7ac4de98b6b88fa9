import NearbyCore
import NearbyGroups

/// Looks for peers that advertise a service, and invites them.
public final class Browser: Sendable {
    /// Who comes, changes and goes.
    public enum Event: Sendable {
        /// A peer in reach of our links advertises.
        case found(Peer, info: [String: String])
        /// It says something else of itself.
        case changed(Peer, info: [String: String])
        /// It advertises no longer, or is out of reach.
        case lost(Peer)
        /// The browser did not start, or works no longer.
        case failed(NearbyError)
    }

    let browsed: Browsed

    /// - Throws: `.invalidParameter` if the peer is not our own.
    public init(peer: Peer, service: Service) throws(NearbyError) {
        browsed = Browsed(own: try OwnPeer(peer), service: service)
    }

    /// What keeps it from starting is told by `events`. Started already, it does nothing.
    ///
    /// - Throws: `.unavailable` if the process is out of threads or descriptors.
    public func start() throws(NearbyError) {
        try Background.shared.post(.browse(browsed, true))
    }

    /// Nothing is told any more; sessions and invitations stay.
    public func stop() { Background.shared.postIfRunning(.browse(browsed, false)) }

    /// The latest 4,096 that nobody took.
    public var events: Events<Event> { Events(queue: browsed.events) }

    /// Peers of the service that are out of reach of our links, and that relays lead to. Their
    /// names are asked for, which takes a moment: call it again for those that were slow. What they
    /// advertise is not known, nor whether they do.
    ///
    /// - Throws: `.unavailable` if the browser is not started; `.cancelled`.
    public func peersBehindRelays() async throws(NearbyError) -> [Peer] {
        let reply = Reply<[Peer]>()
        try Background.shared.post(.lookUp(browsed, reply))
        return try await reply.value()
    }

    /// Invites a peer to a session, and returns when it is connected. Where the peer has been
    /// invited to the session and has not answered, that invitation stands, with its context and
    /// its time, and this call waits for the same answer.
    ///
    /// - Parameters:
    ///   - peer: whom the browser found, or who is known by other means.
    ///   - session: of the browser's own peer.
    ///   - context: for the program that is asked, at most 16 KiB.
    ///   - timeout: how long to wait for its answer, at most an hour; 30 s where it is not
    ///     positive.
    /// - Throws: `.timedOut`; `.cancelled` where the task or the connection is cancelled;
    ///   `.unavailable` with the other side's reason; `.invalidParameter`.
    public func invite(
        _ peer: Peer, to session: Session, context: [UInt8] = [],
        timeout: Duration = .seconds(30)
    ) async throws(NearbyError) {
        let reply = Reply<Void>()
        try post(peer, session, context, timeout, reply)
        let opened = session.opened
        try await reply.value {
            Background.shared.postIfRunning(.cancel(peer.id, opened, unlessAwaited: true))
        }
    }

    /// The same without waiting: what becomes of it is told by the session's states.
    public func beginInviting(
        _ peer: Peer, to session: Session, context: [UInt8], timeout: Duration
    ) throws(NearbyError) {
        try post(peer, session, context, timeout, nil)
    }

    private func post(
        _ peer: Peer, _ session: Session, _ context: [UInt8], _ timeout: Duration,
        _ reply: Reply<Void>?
    ) throws(NearbyError) {
        guard session.peer == browsed.own.peer else {
            throw NearbyError(
                .invalidParameter, "the session is \(session.peer)'s, the browser's peer another")
        }
        guard context.count <= Limits.contextBytesMax else {
            throw NearbyError(
                .invalidParameter,
                "a context has at most \(Limits.contextBytesMax) bytes, this one has "
                    + "\(context.count): send the rest once connected")
        }
        let invitation = OwnInvitation(
            peer: peer, session: session.opened, service: browsed.service, context: context,
            timeout: timeout)
        try Background.shared.post(.invite(invitation, reply))
    }

    deinit {
        stop()
        browsed.events.finish()
    }
}

/// What the background thread knows of a browser.
final class Browsed: Sendable {
    let own: OwnPeer
    let service: Service
    let events = EventQueue<Browser.Event>(count: 4_096)

    init(own: OwnPeer, service: Service) {
        self.own = own
        self.service = service
    }
}

struct OwnInvitation: Sendable {
    let peer: Peer
    let session: OpenedSession
    let service: Service
    let context: [UInt8]
    let timeout: Duration
}
