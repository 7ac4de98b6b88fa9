import NearbyCore

@testable import NearbyBluetooth

/// Tables of several nodes, and a radio that carries out what they want: connects take time and
/// may fail, messages arrive in order. One seed makes every choice.
struct RadioWorld {
    struct Node {
        var table: ConnectionTable
        var address: BluetoothAddress
        var prefix: UInt64
        var received: [(bytes: [UInt8], from: BluetoothAddress)] = []
        var connects = 0
        var isOn = true
        var present: [BluetoothAddress] = []
        var drops = DropCounters()
    }

    enum Event {
        case connectDone(Int, BluetoothChannelID, Int, succeeds: Bool)
        case arrive([UInt8], Int, BluetoothChannelID)
        case ended(Int, BluetoothChannelID)
    }

    struct Key: Hashable {
        var node: Int
        var channel: UInt32

        init(node: Int, id: BluetoothChannelID) {
            self.node = node
            channel = id.value
        }

        var id: BluetoothChannelID { BluetoothChannelID(value: channel) }
    }

    var nodes: [Node] = []
    var now = Instant.zero
    var random: SeededGenerator
    /// The other ends of channels.
    var far: [Key: Key] = [:]
    var events: [(at: Instant, order: Int, event: Event)] = []
    private var order = 0
    var connectDelay = Duration.milliseconds(100) ..< .milliseconds(2_000)
    /// Of 100 connects, so many fail.
    var failures = 0
    /// So many connections each controller holds; a full one neither advertises nor accepts.
    var controllerMax = Int.max
    /// Who is in reach of whom.
    var isInReach: (Int, Int) -> Bool = { _, _ in true }
    /// Links without channels, which take a place for two seconds more.
    private var lingering: [(nodes: Set<Int>, until: Instant)] = []

    init(_ prefixes: [UInt64], seed: UInt64) {
        random = SeededGenerator(seed: seed)
        for (index, prefix) in prefixes.enumerated() {
            let address = BluetoothAddress(value: UInt64(index + 1), kind: .lowEnergyPublic)
            nodes.append(
                Node(
                    table: ConnectionTable(
                        peerPrefix: prefix, configured: [], seed: seed &+ UInt64(index)),
                    address: address, prefix: prefix))
            give(index, .adapterUp(address))
        }
    }

    mutating func give(_ node: Int, _ input: ConnectionTable.Input) {
        for output in nodes[node].table.handle(input, now: now) {
            switch output {
            case .connect(let id, let to, _):
                nodes[node].connects += 1
                guard let other = nodes.firstIndex(where: { $0.address == to }) else { continue }
                let succeeds = Int.random(in: 0..<100, using: &random) >= failures
                schedule(
                    random.duration(in: connectDelay),
                    .connectDone(node, id, other, succeeds: succeeds))
            case .write(let bytes, let id):
                if let end = far[Key(node: node, id: id)] {
                    schedule(.milliseconds(20), .arrive(bytes, end.node, end.id))
                }
            case .close(let id): cut(Key(node: node, id: id))
            case .peers(let addresses): nodes[node].present = addresses
            case .drop(let reason, let count): nodes[node].drops.count(reason, UInt64(count))
            }
        }
    }

    mutating func hear(_ listener: Int, _ other: Int) {
        guard nodes[other].isOn, isInReach(listener, other), linkCount(other) < controllerMax,
            let advertisement = Advertisement(
                networkTag: 0, psm: 0x80, peerPrefix: nodes[other].prefix)
        else { return }
        give(listener, .heard(advertisement, from: nodes[other].address))
    }

    mutating func pass(_ duration: Duration) {
        let end = now + duration
        while true {
            let deadlines = nodes.indices.compactMap { index in
                nodes[index].table.nextDeadline.map { (at: $0, index: index) }
            }
            let deadline = deadlines.min { $0 < $1 }
            let event = events.min { ($0.at, $0.order) < ($1.at, $1.order) }
            guard let next = [deadline?.at, event?.at].compactMap({ $0 }).min(), next <= end
            else { break }
            now = max(now, next)
            if let event, event.at <= next {
                events.removeAll { $0.order == event.order }
                happen(event.event)
            } else if let deadline {
                give(deadline.index, .deadlineReached)
            }
        }
        now = end
    }

    mutating func off(_ node: Int) {
        nodes[node].isOn = false
        give(node, .adapterDown)
    }

    mutating func on(_ node: Int) {
        nodes[node].isOn = true
        give(node, .adapterUp(nodes[node].address))
    }

    private mutating func happen(_ event: Event) {
        switch event {
        case .connectDone(let node, let id, let other, let succeeds):
            guard nodes[node].table.isConnecting(id) else { return }
            guard succeeds, nodes[other].isOn, nodes[node].isOn, isInReach(node, other) else {
                return give(node, .ended(id, code: 111))
            }
            if !isLinked(node, other) {
                if linkCount(node) >= controllerMax { return give(node, .ended(id, code: 31)) }
                if linkCount(other) >= controllerMax { return give(node, .ended(id, code: 110)) }
            }
            lingering.removeAll { $0.nodes == [node, other] }
            let accepted = nodes[other].table.makeID()
            far[Key(node: node, id: id)] = Key(node: other, id: accepted)
            far[Key(node: other, id: accepted)] = Key(node: node, id: id)
            give(other, .accepted(accepted, from: nodes[node].address, messageBytesMax: 1_200))
            give(node, .connected(id, messageBytesMax: 1_200))
        case .arrive(let bytes, let node, let id):
            guard let address = nodes[node].table.address(of: id) else { return }
            give(node, .received(id))
            nodes[node].received.append((bytes, address))
        case .ended(let node, let id): give(node, .ended(id, code: 0))
        }
    }

    /// Connections that a controller has: channels with one peer are one.
    private func linkCount(_ node: Int) -> Int {
        let linked = Set(far.filter { $0.key.node == node }.map(\.value.node))
        let left = lingering.filter { $0.until > now && $0.nodes.contains(node) }
        return linked.union(left.flatMap(\.nodes)).subtracting([node]).count
    }

    private func isLinked(_ node: Int, _ other: Int) -> Bool {
        far.contains { $0.key.node == node && $0.value.node == other }
            || lingering.contains { $0.until > now && $0.nodes == [node, other] }
    }

    /// For so many seconds those in reach hear each other, whoever is connected says hello every
    /// second, and all send everybody a beacon every ten.
    mutating func live(_ seconds: Int) {
        for second in 0..<seconds {
            for node in nodes.indices {
                let connected = nodes[node].table.connected
                for other in nodes.indices where other != node {
                    let address = nodes[other].address
                    if second % 10 == node % 10 { hear(node, other) }
                    if second % 10 == node % 10 || isNeighbour(node, other, connected) {
                        give(node, .send([UInt8(node)], to: address))
                    }
                }
            }
            pass(.seconds(1))
        }
    }

    /// Who wants whom: the next four in a circle, and those that want us.
    private func isNeighbour(_ node: Int, _ other: Int, _ connected: [BluetoothAddress]) -> Bool {
        let apart = (node - other + nodes.count) % nodes.count
        return min(apart, nodes.count - apart) <= 2 && connected.contains(nodes[other].address)
    }

    private mutating func cut(_ key: Key) {
        guard let end = far.removeValue(forKey: key) else { return }
        far[end] = nil
        if !isLinked(key.node, end.node) {
            lingering.removeAll { $0.until <= now }
            lingering.append(([key.node, end.node], now + .seconds(2)))
        }
        schedule(.milliseconds(20), .ended(end.node, end.id))
    }

    private mutating func schedule(_ delay: Duration, _ event: Event) {
        order += 1
        events.append((now + delay, order, event))
    }
}
