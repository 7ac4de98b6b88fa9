import NearbyCore
import NearbyWire

@testable import NearbyEngine

/// Several `DiscoveryMachine`s on one virtual LAN with one millisecond of delay: an event heap
/// ordered by time, then by insertion.
struct DiscoveryLAN {
    private enum Event {
        case deliver(DiscoveryFrame, from: Int, multicast: Bool, onlyTo: Int?)
        case wake(Int)
    }

    private var machines: [DiscoveryMachine] = []
    private var heap: [(time: Instant, order: Int, event: Event)] = []
    private var order = 0
    private(set) var now = Instant.zero
    /// For each machine: when it sent which frame.
    private(set) var sent: [[(time: Instant, frame: DiscoveryFrame)]] = []
    /// For each machine: what it said about peers.
    private(set) var news: [[(time: Instant, output: DiscoveryMachine.Output)]] = []
    var multicastWorks = true
    /// As in a node for programs, which shows who is near.
    var lostPeerTime: Duration?

    static let link = LinkID(value: 1)

    static func endpoint(_ index: Int) -> Endpoint {
        Endpoint(link: link, address: .ipv4(address: 0x0a00_0000 + UInt32(index), port: 4577))
    }

    static func peer(_ index: Int) -> PeerID {
        PeerID(high: UInt64(index + 1) &* 0x9e37_79b9_7f4a_7c15, low: UInt64(index))
    }

    /// Adds a node and starts it now; gives its number.
    mutating func start(_ own: DiscoveryMachine.OwnState, statics: [Endpoint] = []) -> Int {
        let index = machines.count
        var identity = DiscoveryMachine.Identity(
            peer: Self.peer(index), run: RunID(value: UInt64(index)), network: NetworkTag(value: 1))
        identity.lostPeerTime = lostPeerTime
        machines.append(DiscoveryMachine(identity: identity, own: own, seed: UInt64(index)))
        sent.append([])
        news.append([])
        handle(.linkUp(Self.link, hasBroadcast: true), by: index)
        handle(.staticPeers(statics), by: index)
        handle(.start, by: index)
        return index
    }

    mutating func handle(_ input: DiscoveryMachine.Input, by index: Int) {
        for output in machines[index].handle(input, now: now) {
            switch output {
            case .multicast(let frame, on: _):
                sent[index].append((now, frame))
                guard multicastWorks else { continue }
                push(
                    .deliver(frame, from: index, multicast: true, onlyTo: nil),
                    after: .milliseconds(1))
            case .unicast(let frame, to: let endpoint):
                sent[index].append((now, frame))
                let target = machines.indices.first { Self.endpoint($0) == endpoint }
                push(
                    .deliver(frame, from: index, multicast: false, onlyTo: target ?? -1),
                    after: .milliseconds(1))
            default: news[index].append((now, output))
            }
        }
        if let deadline = machines[index].nextDeadline {
            push(.wake(index), after: max(.zero, deadline - now))
        }
    }

    mutating func run(until end: Instant) {
        while let next = heap.first, next.time <= end {
            pop()
            now = next.time
            switch next.event {
            case .wake(let index):
                if let deadline = machines[index].nextDeadline, deadline <= now {
                    handle(.deadlineReached, by: index)
                }
            case .deliver(let frame, from: let sender, let multicast, let onlyTo):
                for index in machines.indices where index != sender && (onlyTo ?? index) == index {
                    handle(
                        .received(frame, from: Self.endpoint(sender), multicast: multicast),
                        by: index)
                }
            }
        }
        now = end
    }

    func machine(_ index: Int) -> DiscoveryMachine { machines[index] }

    private mutating func push(_ event: Event, after delay: Duration) {
        heap.append((now + delay, order, event))
        order += 1
        var child = heap.count - 1
        while child > 0, precedes(child, (child - 1) / 2) {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    private mutating func pop() {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var parent = 0
        while true {
            let children = [2 * parent + 1, 2 * parent + 2].filter { $0 < heap.count }
            guard let least = children.min(by: { precedes($0, $1) }), precedes(least, parent) else {
                return
            }
            heap.swapAt(least, parent)
            parent = least
        }
    }

    private func precedes(_ left: Int, _ right: Int) -> Bool {
        heap[left].time != heap[right].time
            ? heap[left].time < heap[right].time : heap[left].order < heap[right].order
    }
}

extension DiscoveryMachine.OwnState {
    static func wanting(info: DiscoveryInfo = .empty) -> DiscoveryMachine.OwnState {
        DiscoveryMachine.OwnState(dataPort: 4577, role: .agent, flags: .wantsNeighbours, info: info)
    }

    static func collecting(info: DiscoveryInfo = .empty) -> DiscoveryMachine.OwnState {
        DiscoveryMachine.OwnState(
            dataPort: 4577, role: .collector, flags: .hasRoute, costToCollector: 0, info: info)
    }
}
