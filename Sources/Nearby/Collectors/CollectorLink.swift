import NearbyCore
import Synchronization

/// The way to the collectors of a Rivulet network, and back: for programs that bring readings as
/// its agents do. It carries messages and knows nothing of what they mean: over it
/// `NearbyReadings.Reporter` speaks the language of agents.
public final class CollectorLink: Sendable {
    /// What the network says.
    public enum Event: Sendable {
        /// The collector to send to from now on; nil while none is in reach.
        case collector(Peer?)
        /// All that look in, and want copies.
        case viewers([Peer])
        /// From one of them.
        case message([UInt8], from: Peer)
        /// It did not start.
        case failed(NearbyError)
    }

    let linked: LinkedCollectors

    /// - Parameters:
    ///   - peer: our own: the node that collectors see.
    ///   - network: with its secret, as `Service(network:secrets:)` makes it.
    /// - Throws: `.invalidParameter` if the peer is not our own.
    public init(peer: Peer, network: Service) throws(NearbyError) {
        linked = LinkedCollectors(own: try OwnPeer(peer), service: network)
    }

    /// What keeps it from starting is told by `events`. Started already, it does nothing.
    ///
    /// - Throws: `.unavailable` if the process is out of threads or descriptors.
    public func start() throws(NearbyError) {
        try Background.shared.post(.useCollectors(linked, true))
    }

    /// What was sent until now still leaves.
    public func stop() { Background.shared.postIfRunning(.useCollectors(linked, false)) }

    /// The latest 1,024 that nobody took.
    public var events: Events<Event> { Events(queue: linked.events) }

    /// Sends a message to a collector or a viewer, at once; one that is out of reach gets nothing.
    ///
    /// - Throws: `.invalidParameter` for more than 1 MiB, or unreliably 1,000 bytes; `.unavailable`
    ///   while 1,024 messages wait for the background thread already.
    public func send(
        _ message: [UInt8], to peer: Peer, mode: Session.Mode
    ) throws(NearbyError) {
        let bytesMax =
            mode == .reliable ? Limits.reliableMessageBytesMax : Limits.messageBytesMax
        guard message.count <= bytesMax else {
            throw NearbyError(
                .invalidParameter,
                "a message to a collector has at most \(bytesMax) bytes, this one has "
                    + "\(message.count)")
        }
        guard linked.begin() else {
            throw NearbyError(
                .unavailable, "1,024 messages wait already: send more slowly")
        }
        let isReliable = mode == .reliable
        guard Background.shared.isRunning else { return linked.taken() }
        Background.shared.postIfRunning(
            .tellCollector(message, to: peer.id, linked, isReliable: isReliable))
    }

    deinit {
        stop()
        linked.events.finish()
    }
}

/// What the background thread knows of a link to collectors.
final class LinkedCollectors: Sendable {
    let own: OwnPeer
    let service: Service
    let events = EventQueue<CollectorLink.Event>(count: 1_024)
    /// Messages between the program and the background thread.
    private let waiting = Mutex(0)

    init(own: OwnPeer, service: Service) {
        self.own = own
        self.service = service
    }

    /// - Returns: false if too many wait.
    func begin() -> Bool {
        waiting.withLock { waiting in
            guard waiting < Self.waitingMax else { return false }
            waiting += 1
            return true
        }
    }

    func taken() { waiting.withLock { $0 -= 1 } }

    private static let waitingMax = 1_024
}
