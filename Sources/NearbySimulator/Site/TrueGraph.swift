import NearbyCore
import NearbyEngine

/// Who could reach whom over what, and what it would cost: the truth, of which each node knows only
/// its own part. A link costs what one transmission costs, times how often a datagram and its
/// answer have to be sent until both arrive.
struct TrueGraph {
    struct Edge {
        var host: Int
        var cost: Double
    }

    /// The cheapest path to any of the starts.
    struct Distance {
        var cost: Double
        var hops: Int
    }

    /// On a LAN that all hear each other on, its members are joined over its number (above those
    /// of hosts) at half of the cost: a thousand nodes on one LAN are half a million pairs.
    private var edges: [[Edge]]
    private let hostCount: Int
    private let isUp: [Bool]

    init(_ simulator: Simulator) {
        let world = simulator.world
        let hosts = simulator.hosts
        hostCount = hosts.count
        isUp = hosts.map(\.isUp)
        edges = Array(repeating: [], count: hosts.count + world.lans.count)
        let delivered = 1 - Double(simulator.faults.lossPercent) / 100
        for (lan, members) in world.lans.enumerated() {
            let base = Double(world.kinds[lan].cost) / (delivered * delivered)
            if lan == world.lans.count - 1, let field = simulator.field {
                addRadio(field, base)
            } else if members.count == 2 {
                edges[members[0]].append(Edge(host: members[1], cost: base))
                edges[members[1]].append(Edge(host: members[0], cost: base))
            } else {
                for member in members {
                    edges[member].append(Edge(host: hosts.count + lan, cost: base / 2))
                    edges[hosts.count + lan].append(Edge(host: member, cost: base / 2))
                }
            }
        }
    }

    private mutating func addRadio(_ field: RadioField, _ base: Double) {
        for (sender, hearers) in field.hearers.enumerated() {
            for hearing in hearers {
                guard let back = field.hearing(of: hearing.host, at: sender) else { continue }
                let both = (1 - hearing.datagramLoss) * (1 - back.datagramLoss)
                edges[sender].append(Edge(host: hearing.host, cost: base / both))
            }
        }
    }

    /// What the link between two hosts costs; nil: there is none.
    func cost(_ one: Int, _ other: Int) -> Double? {
        var best: Double?
        for edge in edges[one] {
            if edge.host == other {
                best = min(best ?? edge.cost, edge.cost)
            } else if edge.host >= hostCount,
                let back = edges[edge.host].first(where: { $0.host == other })
            {
                best = min(best ?? .infinity, edge.cost + back.cost)
            }
        }
        return best
    }

    /// Dijkstra, from all starts at once, over those that are up.
    ///
    /// - Parameter without: a host that nothing passes through.
    func distances(from starts: [Int], without: Int? = nil) -> [Distance?] {
        var found = [Distance?](repeating: nil, count: edges.count)
        var heap = DistanceHeap()
        for start in starts where isUp[start] {
            heap.insert(.init(host: start, distance: Distance(cost: 0, hops: 0)))
        }
        while let next = heap.removeFirst() {
            guard found[next.host] == nil else { continue }
            found[next.host] = next.distance
            for edge in edges[next.host]
            where found[edge.host] == nil && edge.host != without
                && (edge.host >= hostCount || isUp[edge.host])
            {
                // The middle of a LAN is no hop.
                let hops = next.distance.hops + (edge.host < hostCount ? 1 : 0)
                heap.insert(
                    .init(
                        host: edge.host,
                        distance: Distance(cost: next.distance.cost + edge.cost, hops: hops)))
            }
        }
        return Array(found.prefix(hostCount))
    }
}

/// The nearest first.
private struct DistanceHeap {
    struct Item {
        var host: Int
        var distance: TrueGraph.Distance
    }

    private var items: [Item] = []

    mutating func insert(_ item: Item) {
        var child = items.count
        items.append(item)
        while child > 0, precedes(child, (child - 1) / 2) {
            items.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    mutating func removeFirst() -> Item? {
        guard let first = items.first else { return nil }
        items.swapAt(0, items.count - 1)
        items.removeLast()
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < items.count && precedes(child, least) {
                least = child
            }
            if least == parent { return first }
            items.swapAt(parent, least)
            parent = least
        }
    }

    private func precedes(_ one: Int, _ other: Int) -> Bool {
        (items[one].distance.cost, items[one].host)
            < (items[other].distance.cost, items[other].host)
    }
}
