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

    deinit { Background.shared.unregister(number, of: own.peer.id) }

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
        events.push(.state(peer, state), bytes: 0, .news)
    }

    /// All at once; the program hears of each in its turn.
    func clear() { connected.withLock { $0 = [:] } }
}

extension Limits {
    /// What waits for a program that does not take a session's events: reliable messages up to
    /// these, others up to a quarter.
    static let sessionEventsMax = 65_536
    static let sessionEventBytesMax = 64 << 20
}
