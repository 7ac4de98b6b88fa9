import NearbyCore
import NearbyGroups
import Synchronization

/// What a session, its owner's and the background thread's, has in common.
final class OpenedSession: Sendable {
    typealias CertificateHandler = @Sendable (_ chain: [[UInt8]], _ of: Peer) async -> Bool

    let number: SessionNumber
    let own: OwnPeer
    let identity: Identity?
    let preference: EncryptionPreference
    /// For files that are not whole yet; nil: the one for all.
    let folder: String?
    let certificateHandler: CertificateHandler?
    let room: Room
    let events = EventQueue<Session.Event>(
        count: Limits.sessionEventsMax, bytes: Limits.sessionEventBytesMax)
    private let connected = Mutex<[PeerID: Peer]>([:])
    /// Members that were told to keep reliable messages back.
    private let heldBack = Mutex<Set<PeerID>>([])

    init(
        own: OwnPeer, identity: Identity?, preference: EncryptionPreference, folder: String?,
        certificateHandler: CertificateHandler?
    ) {
        self.own = own
        self.identity = identity
        self.preference = preference
        self.folder = folder
        self.certificateHandler = certificateHandler
        (number, room) = Background.shared.register(own.peer.id, preference)
    }

    deinit {
        room.forget(number)
        Background.shared.unregister(number, of: own.peer.id)
    }

    var terms: SessionTerms {
        SessionTerms(
            preference: preference, identity: identity,
            asksAboutCertificates: certificateHandler != nil)
    }

    /// In the order of their ids.
    var connectedPeers: [Peer] {
        connected.withLock { $0.values.sorted { $0.id < $1.id } }
    }

    func isConnected(_ peer: PeerID) -> Bool { connected.withLock { $0[peer] != nil } }

    /// Tells the program, too.
    func set(_ state: Session.State, of peer: Peer) {
        connected.withLock { $0[peer.id] = state == .connected ? peer : nil }
        if state == .notConnected {
            heldBack.withLock { _ = $0.remove(peer.id) }
            room.hold(peer.id, in: number, false)
        }
        events.push(.state(peer, state), bytes: 0, .news)
    }

    // MARK: Messages

    enum Receipt {
        case taken
        /// Taken, but the member is to keep more of its reliable ones back.
        case slow
        /// Not taken, and the program knows.
        case full
    }

    /// A message for the program, which may be slow.
    func received(_ bytes: [UInt8], from peer: Peer, _ isReliable: Bool) -> Receipt {
        let event = Session.Event.message(bytes, from: peer, isReliable: isReliable)
        let isTaken = events.push(
            event, bytes: bytes.count + 64, isReliable ? .essential : .optional)
        guard isReliable else { return .taken }
        guard isTaken else {
            let error = NearbyError(
                .unavailable,
                "\(peer) was disconnected: its messages piled up; take the session's events faster"
            )
            events.push(.failure(peer, error), .news)
            return .full
        }
        guard events.isPiledUp, heldBack.withLock({ $0.insert(peer.id).inserted }) else {
            return .taken
        }
        events.whenDrained { [weak self] in
            if let self { Background.shared.postIfRunning(.goOn(self)) }
        }
        return .slow
    }

    /// The program has caught up: those that may go on.
    func takeHeldBack() -> [PeerID] {
        heldBack.withLock { peers in
            defer { peers = [] }
            return peers.sorted()
        }
    }

    /// All at once; the program hears of each in its turn.
    func clear() {
        connected.withLock { $0 = [:] }
        heldBack.withLock { $0 = [] }
        room.forget(number)
    }
}

extension Limits {
    /// What waits for a program that does not take a session's events: reliable messages up to
    /// these, others up to a quarter. From a sixteenth on, members are asked to wait.
    static let sessionEventsMax = 65_536
    static let sessionEventBytesMax = 64 << 20
}
