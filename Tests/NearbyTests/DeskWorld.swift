import NearbyCore
import NearbyGroups
import NearbyLinux
import NearbyTransfers
import NearbyWire

@testable import Nearby

/// A station with one session, and other peers whose messages are made here. What it sends them
/// goes nowhere, since its node has no channels but in name.
final class DeskWorld {
    let station: Station
    let session: OpenedSession
    let node: ServiceNode
    private(set) var now = MonotonicClock.now()
    private var packets: [PeerID: UInt64] = [:]

    init() throws {
        _ = LoopbackTests.isPrepared
        let own = try OwnPeer(Peer(displayName: "Desk"))
        station = try Station(own, usesBluetooth: false, loop: EventLoop())
        session = OpenedSession(
            own: own, identity: nil, preference: .required, folder: nil, certificateHandler: nil)
        node = try station.nodes.make(.direct, now)
        station.tellGroup(.open(session.number, SessionID(value: 5), session.terms), now)
        station.sessions[session.number] = session
    }

    func stop() { station.close() }

    static func peer(_ index: Int = 0) -> PeerID { PeerID(high: UInt64(index) + 1, low: 7) }

    var desk: TransferDesk { station.transfers }

    /// What the desk has with a peer.
    func transfers(with peer: PeerID = peer()) -> PeerTransfers? { desk.peers[peer] }

    // MARK: Channels and sessions

    /// The peer's node has a channel with ours.
    func open(_ peer: PeerID = peer(), run: UInt64 = 1) {
        node.channels[peer] = .init(run: RunID(value: run), isEncrypted: true)
        _ = station.nodes.carrierFound(peer, at: node)
        guard let carrier = station.nodes.carriers[peer] else { return }
        desk.returned(peer, carrier.runs, now)
        station.tellGroup(.reachable(peer, isEncrypted: true), now)
    }

    func close(_ peer: PeerID = peer()) {
        _ = station.nodes.carrierLost(peer, of: node)
        desk.tell(peer, .unreachable, now)
        station.tellGroup(.unreachable(peer), now)
    }

    /// Our half: the session is about to be connected with the peer's.
    func begin(with peer: PeerID = peer()) {
        station.tellGroup(.connect(peer, theirs(peer), from: session.number), now)
    }

    /// The peer's half.
    func connect(with peer: PeerID = peer()) {
        guard let pair = pair(with: peer) else { return }
        let connect = GroupConnect(
            pair: pair, number: 77, preference: .required, isAnswer: true, credentials: .none)
        for message in [GroupMessage.connect(connect), .ready(pair)] { say(message, by: peer) }
    }

    func leave(_ peer: PeerID = peer()) {
        if let pair = pair(with: peer) { say(.end(pair, .left), by: peer) }
    }

    /// Our program leaves the session, whose members are told.
    func leaveAll() {
        station.tellGroup(.leave(session.number, renamed: SessionID(value: 6)), now)
    }

    private func theirs(_ peer: PeerID) -> SessionID { SessionID(value: peer.high) }

    private func pair(with peer: PeerID) -> SessionPair? {
        station.group.status.id(of: session.number).map { SessionPair(from: theirs(peer), to: $0) }
    }

    private func say(_ message: GroupMessage, by peer: PeerID) {
        station.tellGroup(.received(message.bytes, from: peer, isReliable: true), now)
    }

    // MARK: Streams and resources

    /// What the peer writes before all that is for the session.
    func group(of peer: PeerID = peer()) -> UInt16? {
        let status = station.group.status
        return (0...UInt16.max).first { status.session(for: $0, from: peer) != nil }
    }

    /// A packet of the peer's, the next by number.
    func tell(_ frames: TransferFrame..., by peer: PeerID = peer()) {
        let number = packets[peer, default: 0]
        packets[peer] = number + 1
        let packet = TransferPacket(lane: .reliable, number: number, frames: frames)
        desk.received(packet.bytes, from: peer, now)
    }

    /// Another run of the peer begins with packet 0.
    func restartPackets(of peer: PeerID = peer()) { packets[peer] = nil }

    /// The streams that the program was told of, and did not take so far.
    func takeStreams() async -> [IncomingStream] {
        let queue = session.events
        // Cancelled, it takes what there is, and does not wait for more.
        let taking = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            var streams: [IncomingStream] = []
            while let event = await queue.next() {
                if case .stream(let stream, _, _) = event { streams.append(stream) }
            }
            return streams
        }
        return await taking.value
    }

    func wait(_ time: Duration) { now = now + time }
}
