import NearbyCore

extension Limits {
    /// Peers that are known at once; beyond, the one that was not heard for longest is forgotten.
    static let bluetoothPeersMax = 64
    /// Peers with a channel or an attempt at once: what usual controllers can hold.
    static let bluetoothConnectionsMax = 7
    /// Channels of one peer: two if both sides connected, and what a broken one leaves.
    static let bluetoothChannelsPerPeerMax = 4
    /// Datagrams that wait for one peer; beyond, the oldest is dropped.
    static let bluetoothQueueMax = 8
}

/// Names an L2CAP channel between the table and the shell.
struct BluetoothChannelID: Comparable, Sendable {
    let value: UInt32

    static func < (left: BluetoothChannelID, right: BluetoothChannelID) -> Bool {
        left.value < right.value
    }
}

/// Who is around, who connects to whom, and which channel a datagram takes.
///
/// Of two nodes, the one with the lower PeerID connects at once when it has something to say; the
/// other waits three seconds and then connects all the same. If both did, both channels are heard
/// and the newest is used. One message of a channel is one datagram.
///
/// A full controller accepts nobody and stops advertising: full nodes would shut out a latecomer,
/// even a collector. So we never connect into the last place, but keep it for whoever connects to
/// us; and a quiet peer, or now and then a busy one, makes way (ConnectionTable+Room.swift).
struct ConnectionTable: Sendable {
    enum Input: Sendable {
        case adapterUp(BluetoothAddress)
        case adapterDown
        case heard(Advertisement, from: BluetoothAddress)
        case send([UInt8], to: BluetoothAddress)
        case accepted(BluetoothChannelID, from: BluetoothAddress, messageBytesMax: Int)
        case connected(BluetoothChannelID, messageBytesMax: Int)
        /// A connect failed, or a channel broke; the code is `errno`'s, 0 for an orderly end.
        case ended(BluetoothChannelID, code: Int32)
        case received(BluetoothChannelID)
        /// The kernel has no room for what was to be written.
        case blocked(BluetoothChannelID, [UInt8])
        case writable(BluetoothChannelID)
        /// All that have proved to be members: wanted before an input for which `wantsNeighbours`.
        case neighbours([BluetoothAddress])
        case deadlineReached
    }

    enum Output: Equatable, Sendable {
        case connect(BluetoothChannelID, to: BluetoothAddress, psm: UInt16)
        case write([UInt8], on: BluetoothChannelID)
        /// Neither used nor expected any more; `ended` does not follow.
        case close(BluetoothChannelID)
        /// All addresses where somebody may be, in order.
        case peers([BluetoothAddress])
        case drop(DropReason, count: Int = 1)
    }

    struct L2CAPChannel: Sendable {
        enum State: Sendable {
            case connecting(since: Instant)
            case open(messageBytesMax: Int, isBlocked: Bool)
        }

        let id: BluetoothChannelID
        var state: State
        var lastTraffic: Instant
        /// When something came last, or since when it is open.
        var lastReceived: Instant
        let openedAt: Instant
        /// Whether we connected.
        var isOurs: Bool
        /// The first write since something came; nil: nothing is owed.
        var unansweredSince: Instant?
    }

    struct Waiting: Sendable {
        var bytes: [UInt8]
        var since: Instant
    }

    struct PeerConnection: Sendable {
        let address: BluetoothAddress
        var psm: UInt16?
        /// Nil for whom no advertisement told it.
        var prefix: UInt64?
        var heardAt: Instant?
        /// Oldest first.
        var channels: [L2CAPChannel] = []
        var queue: [Waiting] = []
        var attemptAt: Instant?
        /// Since when it has found no place.
        var refusedSince: Instant?
        var backoff = Backoff(first: .seconds(1), most: .seconds(60))
        /// Nil where nobody knows.
        var isNeighbour: Bool?

        init(_ address: BluetoothAddress) { self.address = address }
    }

    let peerPrefix: UInt64
    /// BR/EDR addresses of the configuration.
    let configured: [BluetoothAddress]
    var own: BluetoothAddress?
    /// By address. An array: there are few, and a dictionary's code is large.
    var peers: [PeerConnection] = []
    var announced: [BluetoothAddress] = []
    var room = ControllerRoom()
    /// When neighbours may next make way for a peer that was refused.
    var yields = Backoff(first: .seconds(60), most: .seconds(3_600))
    var random: SeededGenerator
    private var lastID: UInt32 = 0

    init(peerPrefix: UInt64, configured: [BluetoothAddress], seed: UInt64) {
        self.peerPrefix = peerPrefix & 0xffff_ffff_ffff
        self.configured = configured
        random = SeededGenerator(seed: seed)
    }

    mutating func handle(_ input: Input, now: Instant) -> [Output] {
        let outputs = apply(input, now)
        for case .close in outputs { room.ended(now) }
        return outputs + announce(now)
    }

    private mutating func apply(_ input: Input, _ now: Instant) -> [Output] {
        switch input {
        case .adapterUp(let address): adapterUp(address)
        case .adapterDown: return adapterDown()
        case .heard(let advertisement, let address): return receive(advertisement, address, now)
        case .send(let bytes, let address): return send(bytes, to: address, now)
        case .accepted(let id, let address, let most): return accept(id, address, most, now)
        case .connected(let id, let most): return connected(id, most, now)
        case .ended(let id, let code): return ended(id, code, now)
        case .received(let id): received(id, now)
        case .blocked(let id, let bytes): return blocked(id, bytes, now)
        case .writable(let id): return writable(id, now)
        case .neighbours(let addresses): take(addresses)
        case .deadlineReached: return expire(now)
        }
        return []
    }

    /// For a channel that was accepted.
    mutating func makeID() -> BluetoothChannelID {
        lastID &+= 1
        return BluetoothChannelID(value: lastID)
    }

    var nextDeadline: Instant? {
        var next: Instant?
        for peer in peers {
            if let deadline = Self.deadline(of: peer) { next = min(next ?? deadline, deadline) }
        }
        return next
    }

    /// Peers with a channel that can be used.
    var connected: [BluetoothAddress] {
        peers.filter(\.isConnected).map(\.address)
    }

    /// Whether somebody is being connected to: a controller does not scan well meanwhile.
    var isConnecting: Bool { peers.contains(where: \.isConnecting) }

    func isConnecting(_ id: BluetoothChannelID) -> Bool {
        place(of: id).map { !peers[$0.peer].channels[$0.channel].isOpen } ?? false
    }

    /// Whose channel it is.
    func address(of id: BluetoothChannelID) -> BluetoothAddress? {
        place(of: id).map { peers[$0.peer].address }
    }

    // MARK: The adapter

    private mutating func adapterUp(_ address: BluetoothAddress) {
        own = address
        room = ControllerRoom()
        yields.succeed()
        for address in configured { peers[insert(address)].psm = Self.classicPSM }
    }

    private mutating func adapterDown() -> [Output] {
        own = nil
        defer { peers = [] }
        return peers.flatMap { peer in
            peer.channels.map { .close($0.id) } + Self.dropped(peer.queue.count)
        }
    }

    // MARK: Who is around

    private mutating func receive(
        _ advertisement: Advertisement, _ address: BluetoothAddress, _ now: Instant
    ) -> [Output] {
        guard own != nil else { return [] }
        guard makeRoom(for: address) else { return [.drop(.bluetoothTableFull)] }
        let index = insert(address)
        peers[index].psm = UInt16(advertisement.psm)
        peers[index].prefix = advertisement.peerPrefix
        peers[index].heardAt = now
        return []
    }

    func index(of address: BluetoothAddress) -> Int? {
        peers.firstIndex { $0.address == address }
    }

    /// Where this peer is now; a new one in its place in the order.
    mutating func insert(_ address: BluetoothAddress) -> Int {
        let index = peers.firstIndex { !($0.address < address) } ?? peers.count
        if index == peers.count || peers[index].address != address {
            peers.insert(PeerConnection(address), at: index)
        }
        return index
    }

    func place(of id: BluetoothChannelID) -> (peer: Int, channel: Int)? {
        for (index, peer) in peers.enumerated() {
            if let channel = peer.channels.firstIndex(where: { $0.id == id }) {
                return (index, channel)
            }
        }
        return nil
    }

    /// False if everybody that is known is connected.
    mutating func makeRoom(for address: BluetoothAddress) -> Bool {
        guard peers.count >= Limits.bluetoothPeersMax, index(of: address) == nil else {
            return true
        }
        var oldest: Int?
        for (index, peer) in peers.enumerated()
        where peer.channels.isEmpty && !configured.contains(peer.address) {
            guard let known = oldest else {
                oldest = index
                continue
            }
            if (peer.heardAt ?? .zero) < (peers[known].heardAt ?? .zero) { oldest = index }
        }
        guard let oldest else { return false }
        peers.remove(at: oldest)
        return true
    }

    private mutating func announce(_ now: Instant) -> [Output] {
        let present = peers.filter { isPresent($0, now) }.map(\.address)
        guard present != announced else { return [] }
        announced = present
        return [.peers(present)]
    }

    /// Whom LE reaches is not tried over BR/EDR as well.
    private func isPresent(_ peer: PeerConnection, _ now: Instant) -> Bool {
        if peer.isConnected { return true }
        guard peer.address.kind == .classic else { return peer.wasHeard(now) }
        return configured.contains(peer.address) && !isReached(byLowEnergy: peer.address, now)
    }

    func isReached(byLowEnergy address: BluetoothAddress, _ now: Instant) -> Bool {
        let twin = BluetoothAddress(value: address.value, kind: .lowEnergyPublic)
        guard let index = index(of: twin) else { return false }
        return peers[index].isConnected || peers[index].wasHeard(now)
    }

    /// Four scans of a content node.
    static let lifetime = Duration.seconds(120)
    /// Where BR/EDR channels are taken: `Ri`, in the dynamic range (its first byte even, its
    /// second odd).
    static let classicPSM: UInt16 = 0x5269
}

extension ConnectionTable.PeerConnection {
    var isConnected: Bool { channels.contains { $0.isOpen } }

    var isConnecting: Bool { channels.contains { !$0.isOpen } }

    /// When something came last over any of its channels.
    var lastReceived: Instant { channels.map(\.lastReceived).max() ?? .zero }

    /// Open, and not in use: a neighbour would have said something, or it would be a neighbour.
    func isQuiet(_ now: Instant) -> Bool {
        guard isConnected, !isConnecting else { return false }
        return isStranger(now) || now - lastReceived >= ConnectionTable.quietTime
    }

    /// Who makes way first.
    func order(_ now: Instant) -> (Int, Instant) { (isStranger(now) ? 0 : 1, lastReceived) }

    /// Somebody who says something, but has not proved to be a member for so long.
    func isStranger(_ now: Instant) -> Bool {
        guard isNeighbour == false, let since = channels.map(\.openedAt).min() else {
            return false
        }
        return now - since >= ConnectionTable.strangerTime
    }

    func wasHeard(_ now: Instant) -> Bool {
        heardAt.map { now - $0 < ConnectionTable.lifetime } ?? false
    }
}

extension ConnectionTable.L2CAPChannel {
    var isOpen: Bool { if case .open = state { true } else { false } }
}
