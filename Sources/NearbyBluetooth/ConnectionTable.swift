import NearbyCore

extension Limits {
    /// Peers that are known at once; beyond, the one that was not heard for longest is forgotten.
    public static let bluetoothPeersMax = 64
    /// Peers with a channel or an attempt at once: what usual controllers can hold.
    public static let bluetoothConnectionsMax = 7
    /// Channels of one peer: two if both sides connected, and what a broken one leaves.
    public static let bluetoothChannelsPerPeerMax = 4
    /// Datagrams that wait for one peer; beyond, the oldest is dropped.
    public static let bluetoothQueueMax = 8
}

/// Names an L2CAP channel between the table and the shell.
public struct BluetoothChannelID: Hashable, Comparable, Sendable {
    let value: UInt32

    public static func < (left: BluetoothChannelID, right: BluetoothChannelID) -> Bool {
        left.value < right.value
    }
}

/// Who is around, who connects to whom, and which channel a datagram takes.
///
/// Of two nodes, the one with the lower PeerID connects at once when it has something to say; the
/// other waits three seconds and then connects all the same. If both did, both channels are heard
/// and the newest is used. One message of a channel is one datagram.
public struct ConnectionTable: Sendable {
    public enum Input: Equatable, Sendable {
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
        case deadlineReached
    }

    public enum Output: Equatable, Sendable {
        case connect(BluetoothChannelID, to: BluetoothAddress, psm: UInt16)
        case write([UInt8], on: BluetoothChannelID)
        /// Neither used nor expected any more; `ended` does not follow.
        case close(BluetoothChannelID)
        /// All addresses where somebody may be, in order.
        case peers([BluetoothAddress])
    }

    struct Channel: Equatable, Sendable {
        enum State: Equatable, Sendable {
            case connecting(since: Instant)
            case open(messageBytesMax: Int, isBlocked: Bool)
        }

        let id: BluetoothChannelID
        var state: State
        var lastTraffic: Instant
    }

    struct Waiting: Equatable, Sendable {
        var bytes: [UInt8]
        var since: Instant
    }

    struct Peer: Equatable, Sendable {
        var psm: UInt16?
        /// Nil for whom no advertisement told it.
        var prefix: UInt64?
        var heardAt: Instant?
        /// Oldest first.
        var channels: [Channel] = []
        var queue: [Waiting] = []
        var attemptAt: Instant?
        var backoff = Backoff(first: .seconds(1), most: .seconds(60))
    }

    let peerPrefix: UInt64
    /// BR/EDR addresses of the configuration.
    let configured: [BluetoothAddress]
    var own: BluetoothAddress?
    var peers: [BluetoothAddress: Peer] = [:]
    var announced: [BluetoothAddress] = []
    var random: SeededGenerator
    var outputs: [Output] = []
    private var lastID: UInt32 = 0
    public internal(set) var drops = DropCounters()

    public init(peerPrefix: UInt64, configured: [BluetoothAddress], seed: UInt64) {
        self.peerPrefix = peerPrefix & 0xffff_ffff_ffff
        self.configured = configured
        random = SeededGenerator(seed: seed)
    }

    public mutating func handle(_ input: Input, now: Instant) -> [Output] {
        outputs = []
        switch input {
        case .adapterUp(let address): adapterUp(address)
        case .adapterDown: adapterDown()
        case .heard(let advertisement, let address): hear(advertisement, address, now)
        case .send(let bytes, let address): send(bytes, to: address, now)
        case .accepted(let id, let address, let most): accept(id, address, most, now)
        case .connected(let id, let most): connected(id, most, now)
        case .ended(let id, let code): ended(id, code, now)
        case .received(let id): change(id) { $0.lastTraffic = now }
        case .blocked(let id, let bytes): blocked(id, bytes, now)
        case .writable(let id): writable(id, now)
        case .deadlineReached: expire(now)
        }
        announce(now)
        return outputs
    }

    /// For a channel that was accepted.
    public mutating func makeID() -> BluetoothChannelID {
        lastID &+= 1
        return BluetoothChannelID(value: lastID)
    }

    public var nextDeadline: Instant? {
        peers.lazy.flatMap { Self.deadlines(of: $0.value) }.min()
    }

    /// Peers with a channel that can be used.
    public var connected: [BluetoothAddress] {
        peers.filter { $0.value.isConnected }.keys.sorted()
    }

    public func isConnecting(_ id: BluetoothChannelID) -> Bool {
        peers.values.contains { $0.channels.contains { $0.id == id && !$0.isOpen } }
    }

    /// Whose channel it is.
    public func address(of id: BluetoothChannelID) -> BluetoothAddress? {
        peers.first { $0.value.channels.contains { $0.id == id } }?.key
    }

    // MARK: The adapter

    private mutating func adapterUp(_ address: BluetoothAddress) {
        own = address
        for address in configured {
            peers[address] = Peer(psm: Self.classicPSM)
        }
    }

    private mutating func adapterDown() {
        own = nil
        for channel in peers.sorted(by: { $0.key < $1.key }).flatMap(\.value.channels) {
            outputs.append(.close(channel.id))
        }
        for peer in peers.values { drops.count(.bluetoothConnectFailed, UInt64(peer.queue.count)) }
        peers = [:]
    }

    // MARK: Who is around

    private mutating func hear(
        _ advertisement: Advertisement, _ address: BluetoothAddress, _ now: Instant
    ) {
        guard own != nil, makeRoom(for: address) else { return }
        var peer = peers[address] ?? Peer()
        peer.psm = UInt16(advertisement.psm)
        peer.prefix = advertisement.peerPrefix
        peer.heardAt = now
        peers[address] = peer
    }

    /// False if everybody that is known is connected.
    mutating func makeRoom(for address: BluetoothAddress) -> Bool {
        guard peers[address] == nil, peers.count >= Limits.bluetoothPeersMax else { return true }
        let idle = peers.filter { $0.value.channels.isEmpty && !configured.contains($0.key) }
        let oldest = idle.min {
            ($0.value.heardAt ?? .zero, $0.key) < ($1.value.heardAt ?? .zero, $1.key)
        }
        guard let oldest else {
            drops.count(.bluetoothTableFull)
            return false
        }
        peers[oldest.key] = nil
        return true
    }

    private mutating func announce(_ now: Instant) {
        let present = peers.filter { isPresent($0.key, $0.value, now) }.keys.sorted()
        guard present != announced else { return }
        announced = present
        outputs.append(.peers(present))
    }

    /// Whom LE reaches is not tried over BR/EDR as well.
    private func isPresent(_ address: BluetoothAddress, _ peer: Peer, _ now: Instant) -> Bool {
        if peer.isConnected { return true }
        guard address.kind == .classic else {
            return peer.heardAt.map { now - $0 < Self.forgetting } ?? false
        }
        return configured.contains(address) && !isReached(byLowEnergy: address, now)
    }

    func isReached(byLowEnergy address: BluetoothAddress, _ now: Instant) -> Bool {
        let twin = BluetoothAddress(value: address.value, kind: .lowEnergyPublic)
        guard let peer = peers[twin] else { return false }
        return peer.isConnected || peer.heardAt.map { now - $0 < Self.forgetting } ?? false
    }

    /// Four scans of a content node.
    static let forgetting = Duration.seconds(120)
    /// Where BR/EDR channels are taken: `Ri`, in the dynamic range (its first byte even, its
    /// second odd).
    public static let classicPSM: UInt16 = 0x5269
}

extension ConnectionTable.Peer {
    var isConnected: Bool { channels.contains { $0.isOpen } }

    var isConnecting: Bool { channels.contains { !$0.isOpen } }
}

extension ConnectionTable.Channel {
    var isOpen: Bool { if case .open = state { true } else { false } }
}
