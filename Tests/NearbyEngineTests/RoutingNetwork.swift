import NearbyCore
import NearbyEngine
import NearbyWire
import Testing

/// Routing machines over links that lose, delay, fail, and change their cost; after every step the
/// ways to each destination are followed.
struct RoutingNetwork {
    struct Pair: Hashable, Comparable {
        var low: Int
        var high: Int

        init(_ one: Int, _ other: Int) { (low, high) = one < other ? (one, other) : (other, one) }

        static func < (left: Pair, right: Pair) -> Bool {
            (left.low, left.high) < (right.low, right.high)
        }
    }

    struct Link {
        var costs: [UInt16]
        var isUp = false
        /// Grows with every new channel over it: a message of an older one arrives nowhere.
        var epoch = 0
    }

    enum Event {
        case deadline(Int)
        case delivery(RoutingMessage, from: Int, to: Int, epoch: Int, order: Int)
        case up(Int, Int, epoch: Int)
        case down(Int, Int, epoch: Int)
    }

    let count: Int
    private(set) var machines: [RoutingMachine]
    private(set) var links: [Pair: Link] = [:]
    /// Which channel each side of a pair knows of: `admitted[one][other]` is an epoch.
    private(set) var admitted: [[Int: Int]]
    /// The order in which it was sent of the newest numbered message of another.
    private var newest: [[Int: Int]]
    private(set) var now = Instant.zero
    private(set) var lastSent = Instant.zero
    private(set) var loops: [String] = []
    private(set) var sentCount = 0
    var loss = 0.0
    var random: SeededGenerator
    private var events: [(time: Instant, order: Int, event: Event)] = []
    private var order = 0
    private var planned: [Instant]

    init(count: Int, seed: UInt64) {
        self.count = count
        var random = SeededGenerator(seed: seed)
        machines = (0..<count).map {
            RoutingMachine(
                own: Self.peer($0), kind: Self.kind($0),
                firstSeqno: .random(in: 1...(1 << 24), using: &random))
        }
        admitted = Array(repeating: [:], count: count)
        newest = Array(repeating: [:], count: count)
        planned = Array(repeating: .distantFuture, count: count)
        self.random = random
    }

    /// A tree and some more links, connected, with costs of the three classes and between.
    static func random(seed: UInt64) -> RoutingNetwork {
        let count = 5 + Int(seed % 26)
        var network = RoutingNetwork(count: count, seed: seed &+ 1_000)
        for node in 1..<count {
            network.addLink(node, Int.random(in: 0..<node, using: &network.random))
        }
        for _ in 0..<count {
            let one = Int.random(in: 0..<count, using: &network.random)
            let other = Int.random(in: 0..<count, using: &network.random)
            if one != other { network.addLink(one, other) }
        }
        return network
    }

    static func peer(_ number: Int) -> PeerID { PeerID(high: UInt64(number + 1), low: 1) }

    /// The first is a collector, the second a viewer.
    private static func kind(_ node: Int) -> DestinationKind {
        node == 0 ? .collector : node == 1 ? .viewer : .node
    }

    static func number(of peer: PeerID) -> Int { Int(peer.high) - 1 }

    // MARK: What happens to links and nodes

    mutating func addLink(_ one: Int, _ other: Int, cost: UInt16? = nil) {
        let costs = (0..<2).map { _ in cost ?? UInt16.random(in: 96...1_200, using: &random) }
        links[Pair(one, other)] = links[Pair(one, other)] ?? Link(costs: costs)
    }

    mutating func raise(_ pair: Pair) {
        guard var link = links[pair], !link.isUp else { return }
        link.isUp = true
        link.epoch += 1
        links[pair] = link
        for (one, other) in [(pair.low, pair.high), (pair.high, pair.low)] {
            insert(.up(one, other, epoch: link.epoch), now + delay())
        }
    }

    mutating func raiseAll() { for pair in links.keys.sorted() { raise(pair) } }

    /// Messages are lost at once; each side notices within the neighbours' time-out.
    mutating func cut(_ pair: Pair, noticed: Duration = Limits.neighbourTimeout) {
        guard var link = links[pair], link.isUp else { return }
        link.isUp = false
        links[pair] = link
        for (one, other) in [(pair.low, pair.high), (pair.high, pair.low)] {
            let after = random.duration(in: .zero..<noticed)
            insert(.down(one, other, epoch: link.epoch), now + after)
        }
    }

    /// One side loses its neighbour and takes it up again; the other notices nothing.
    mutating func forget(_ other: Int, by one: Int, atMost pauseMax: Duration = .seconds(3)) {
        guard let link = links[Pair(one, other)], link.isUp, admitted[one][other] == link.epoch
        else { return }
        handle(.down(one, other, epoch: link.epoch))
        let pause = random.duration(in: .zero..<pauseMax)
        insert(.up(one, other, epoch: link.epoch), now + pause)
    }

    mutating func changeCost(_ pair: Pair, by one: Int, to cost: UInt16) {
        let other = pair.low == one ? pair.high : pair.low
        links[pair]?.costs[one == pair.low ? 0 : 1] = cost
        guard admitted[one][other] != nil else { return }
        feed(.costChanged(Self.peer(other), cost), one)
    }

    /// All state is gone; the neighbours notice by their time-out, or when the node comes back.
    mutating func restart(_ node: Int) {
        for pair in links.keys.sorted() where pair.low == node || pair.high == node { cut(pair) }
        machines[node] = RoutingMachine(
            own: Self.peer(node), kind: Self.kind(node),
            firstSeqno: .random(in: 1...(1 << 24), using: &random))
        admitted[node] = [:]
        planned[node] = .distantFuture
        check(nil)
    }

    // MARK: Time

    mutating func run(for duration: Duration) {
        let end = now + duration
        while let first = events.first, first.time <= end {
            removeFirst()
            now = max(now, first.time)
            handle(first.event)
        }
        now = end
        check(nil)
    }

    private mutating func handle(_ event: Event) {
        switch event {
        case .deadline(let node):
            guard planned[node] <= now else { return }
            planned[node] = .distantFuture
            feed(.deadlineReached, node)
        case .delivery(let message, let source, let node, let epoch, let order):
            guard links[Pair(source, node)]?.isUp == true, admitted[node][source] == epoch else {
                return
            }
            let isOvertaken = order < newest[node][source] ?? 0
            if message.number != 0, !isOvertaken { newest[node][source] = order }
            feed(
                .received(message, from: Self.peer(source), isOvertaken: isOvertaken), node)
        case .up(let one, let other, let epoch):
            guard let link = links[Pair(one, other)], link.isUp, link.epoch == epoch else { return }
            admitted[one][other] = epoch
            feed(.neighbourUp(Self.peer(other), cost: link.costs[one < other ? 0 : 1]), one)
        case .down(let one, let other, let epoch):
            guard admitted[one][other] == epoch else { return }
            admitted[one][other] = nil
            feed(.neighbourDown(Self.peer(other)), one)
        }
    }

    private mutating func feed(_ input: RoutingMachine.Input, _ node: Int) {
        var changed: Set<Int> = []
        for output in machines[node].handle(input, now: now) {
            switch output {
            case .send(let message, let peer):
                sentCount += 1
                lastSent = now
                let other = Self.number(of: peer)
                guard let epoch = admitted[node][other] else {
                    loops.append("node \(node) sends to \(other), no neighbour of its")
                    continue
                }
                if Double.random(in: 0..<1, using: &random) < loss { continue }
                insert(
                    .delivery(message, from: node, to: other, epoch: epoch, order: sentCount),
                    now + delay())
            case .routeChanged(let destination, _, _, _):
                changed.insert(Self.number(of: destination))
            case .drop: break
            }
        }
        if let deadline = machines[node].nextDeadline, deadline < planned[node] {
            planned[node] = max(deadline, now)
            insert(.deadline(node), planned[node])
        }
        if !changed.isEmpty { check(changed) }
    }

    private mutating func delay() -> Duration {
        random.duration(in: .milliseconds(1)..<Duration.milliseconds(30))
    }

    // MARK: Following the ways

    /// The nodes on the way, both ends included; nil where the way ends before.
    func path(from source: Int, to destination: Int) -> [Int]? {
        var nodes = [source]
        let short = Self.peer(destination).short
        while let node = nodes.last, node != destination {
            let hop =
                nodes.count == 1
                ? machines[node].nextHop(to: short)
                : machines[node].forwardingHop(to: short, now: now)
            guard let hop, nodes.count <= count else { return nil }
            nodes.append(Self.number(of: hop))
        }
        return nodes
    }

    private mutating func check(_ changed: Set<Int>?) {
        for destination in changed?.sorted() ?? Array(0..<count) {
            let short = Self.peer(destination).short
            // 0 unseen, 1 on the way that is followed, 2 known to end.
            var marks = [UInt8](repeating: 0, count: count)
            marks[destination] = 2
            for start in 0..<count where marks[start] == 0 {
                var trail: [Int] = []
                var node: Int? = start
                while let current = node, marks[current] == 0 {
                    marks[current] = 1
                    trail.append(current)
                    node = machines[current].forwardingHop(to: short, now: now)
                        .map(Self.number)
                }
                if let node, marks[node] == 1 {
                    loops.append("at \(now.nanoseconds / 1_000) µs to \(destination): \(trail)")
                }
                for seen in trail { marks[seen] = 2 }
            }
        }
    }

    // MARK: Events in order

    private mutating func insert(_ event: Event, _ time: Instant) {
        order += 1
        events.append((time, order, event))
        var child = events.count - 1
        while child > 0, precedes(child, (child - 1) / 2) {
            events.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    private mutating func removeFirst() {
        events.swapAt(0, events.count - 1)
        events.removeLast()
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < events.count && precedes(child, least) {
                least = child
            }
            if least == parent { return }
            events.swapAt(parent, least)
            parent = least
        }
    }

    private func precedes(_ left: Int, _ right: Int) -> Bool {
        events[left].time != events[right].time
            ? events[left].time < events[right].time : events[left].order < events[right].order
    }
}

extension RoutingNetwork {
    /// Dijkstra's distances to the destination over links that are up, at the senders' costs.
    func distances(to destination: Int) -> [Int?] {
        var best = [Int?](repeating: nil, count: count)
        best[destination] = 0
        var open = Set(0..<count)
        while let node = open.filter({ best[$0] != nil }).min(by: {
            (best[$0] ?? 0, $0) < (best[$1] ?? 0, $1)
        }) {
            open.remove(node)
            for (pair, link) in links where link.isUp && (pair.low == node || pair.high == node) {
                let other = pair.low == node ? pair.high : pair.low
                let cost = Int(link.costs[other == pair.low ? 0 : 1])
                if cost == Int(UInt16.max) { continue }
                let sum = (best[node] ?? 0) + cost
                if sum < best[other] ?? .max { best[other] = sum }
            }
        }
        return best
    }

    func cost(from one: Int, to other: Int) -> Int {
        Int(links[Pair(one, other)]?.costs[one < other ? 0 : 1] ?? .max)
    }
}

/// One node in the midst of neighbours that a test stands for.
protocol RoutingScene {
    var machine: RoutingMachine { get set }
    var now: Instant { get set }

    /// Takes note of a numbered message. Returns whether the neighbour acknowledges it at once.
    mutating func receives(_ message: RoutingMessage, _ peer: PeerID) -> Bool
}

extension RoutingScene {
    /// With all that follows from it at the same moment.
    mutating func handle(_ input: RoutingMachine.Input) {
        var queue = machine.handle(input, now: now)
        while let output = queue.first {
            queue.removeFirst()
            guard case .send(let message, let peer) = output, message.number != 0,
                receives(message, peer)
            else { continue }
            let answer = RoutingMessage(number: 0, acknowledged: message.number, items: [])
            queue += machine.handle(.received(answer, from: peer), now: now)
        }
    }

    mutating func pass(_ time: Duration) {
        let end = now + time
        while let deadline = machine.nextDeadline, deadline <= end {
            now = max(now, deadline)
            handle(.deadlineReached)
        }
        now = end
    }
}
