import NearbyCore
import NearbyEngine

/// Which hosts' next hops changed in a step, and whether they lead in a circle now.
///
/// It keeps numbers, because looking a thousand PeerIDs up after each of a million steps would take
/// longer than all that the nodes do.
struct RouteWatch {
    /// Of each host, as its node counts them.
    private var versions: [Int: UInt64] = [:]
    private var changed: [Int] = []
    /// For each host the number of the next hop to each other one; `nowhere`: there is none. Of a
    /// host that never changed it is empty.
    private var hops: [[Int32]] = []

    private static let nowhere: Int32 = -1

    mutating func stepped(_ host: Host) {
        let version = host.routesVersion
        guard versions[host.number, default: 0] != version else { return }
        versions[host.number] = version
        if !changed.contains(host.number) { changed.append(host.number) }
    }

    /// Nil: nobody's did.
    mutating func takeChanged() -> [Int]? {
        guard !changed.isEmpty else { return nil }
        defer { changed.removeAll(keepingCapacity: true) }
        return changed
    }

    /// The destinations to which the host has another next hop than when it was last asked for.
    mutating func takeMoved(_ host: Host, _ simulator: Simulator) -> [Int] {
        let count = simulator.hosts.count
        if hops.isEmpty { hops = Array(repeating: [], count: count) }
        var now = [Int32](repeating: Self.nowhere, count: count)
        host.node?.eachRoute { destination, hop in
            guard let number = simulator.number(of: destination) else { return }
            now[number] = simulator.number(of: hop).map { Int32($0) } ?? Self.nowhere
        }
        let before = hops[host.number]
        hops[host.number] = now
        return now.indices.filter {
            now[$0] != Self.nowhere && (before.isEmpty || now[$0] != before[$0])
        }
    }

    /// Whether the next hops, as they were taken last, lead from one host to another in a circle.
    func isCircle(from host: Int, to destination: Int) -> Bool {
        var here = host
        for _ in 0...hops.count {
            guard here != destination, !hops[here].isEmpty else { return false }
            let next = hops[here][destination]
            guard next != Self.nowhere else { return false }
            here = Int(next)
        }
        return true
    }
}

extension Simulator {
    /// Where a packet for the destination goes next; nil: nowhere.
    func forwardingHost(from host: Host, to destination: Host) -> Host? {
        host.node?.forwardingHop(to: destination.peer, now: host.localTime(now))
            .flatMap { number(of: $0) }.map { hosts[$0] }
    }
}
