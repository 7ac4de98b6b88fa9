import NearbyCore
import NearbyEngine

/// Which hosts' next hops changed in a step, and whether they lead in a circle now.
///
/// It keeps numbers, because looking a thousand PeerIDs up after each of a million steps would take
/// longer than all that the nodes do.
struct RouteWatch {
    /// Of each host, as its node counts them.
    private var versions: [UInt64] = []
    private var changed: [Int] = []
    private var numbers = HostNumbers([])
    /// For each host the number of the next hop to each other one; `nowhere`: there is none. Of a
    /// host that never changed it is empty.
    private var hops: [[Int16]] = []
    /// The same by destinations, then by hosts: a path to one is followed within one row, and a
    /// thousand rows are more than a processor has at hand.
    private var hopsToward: [[Int16]] = []
    /// Of each host, how many of those are somewhere.
    private var routeCounts: [Int] = []

    private static let nowhere: Int16 = -1

    mutating func stepped(_ host: Host) {
        let version = host.routesVersion
        while versions.count <= host.number { versions.append(0) }
        guard versions[host.number] != version else { return }
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
        if hops.isEmpty {
            numbers = HostNumbers(simulator.hosts.map(\.peer))
            hops = Array(repeating: [], count: count)
            hopsToward = hops
            routeCounts = Array(repeating: 0, count: count)
        }
        if hops[host.number].isEmpty {
            hops[host.number] = Array(repeating: Self.nowhere, count: count)
        }
        let numbers = numbers
        var moved: [Int] = []
        var (found, new) = (0, 0)
        hops[host.number].withUnsafeMutableBufferPointer { row in
            host.node?.eachHop { destination, hop in
                guard let to = numbers[destination], let over = numbers[hop] else { return }
                found += 1
                guard row[to] != over else { return }
                if row[to] == Self.nowhere { new += 1 }
                row[to] = Int16(over)
                moved.append(to)
            }
        }
        for destination in moved { mirror(destination, of: host.number) }
        routeCounts[host.number] += new
        if routeCounts[host.number] != found { forgetLost(host) }
        return moved.sorted()
    }

    /// Some destinations have no next hop any more.
    private mutating func forgetLost(_ host: Host) {
        let numbers = numbers
        var row = [Int16](repeating: Self.nowhere, count: hops.count)
        host.node?.eachHop { destination, hop in
            guard let to = numbers[destination], let over = numbers[hop] else { return }
            row[to] = Int16(over)
        }
        let lost = row.indices.filter { row[$0] != hops[host.number][$0] }
        hops[host.number] = row
        for destination in lost { mirror(destination, of: host.number) }
        routeCounts[host.number] -= lost.count
    }

    private mutating func mirror(_ destination: Int, of host: Int) {
        if hopsToward[destination].isEmpty {
            hopsToward[destination] = Array(repeating: Self.nowhere, count: hops.count)
        }
        hopsToward[destination][host] = hops[host][destination]
    }

    /// Whether the next hops, as they were taken last, lead from one host to another in a circle.
    func isCircle(from host: Int, to destination: Int) -> Bool {
        var here = host
        for _ in 0...hops.count {
            guard here != destination, !hopsToward[destination].isEmpty else { return false }
            let next = hopsToward[destination][here]
            guard next != Self.nowhere else { return false }
            here = Int(next)
        }
        return true
    }
}

/// Whose PeerIDs they are. No hash is made of any: the first half is random, and the second has the
/// number itself.
private struct HostNumbers {
    private let peers: [PeerID]
    /// Four times as many places as hosts, at least, and a power of two. A host has that which the
    /// end of its short ID says, or the next one that was free.
    private var places: [Int16]

    private static let nobody: Int16 = -1

    init(_ peers: [PeerID]) {
        precondition(peers.count <= Int(Int16.max), "\(peers.count) hosts")
        self.peers = peers
        var size = 4
        while size < 4 * peers.count { size *= 2 }
        places = Array(repeating: Self.nobody, count: size)
        for (number, peer) in peers.enumerated() {
            var place = place(of: peer.short)
            while places[place] != Self.nobody { place = (place + 1) % size }
            places[place] = Int16(number)
        }
    }

    private func place(of short: ShortID) -> Int {
        Int(short.value & UInt64(places.count - 1))
    }

    subscript(short: ShortID) -> Int? {
        var place = place(of: short)
        while places[place] != Self.nobody {
            let number = Int(places[place])
            if peers[number].short == short { return number }
            place = (place + 1) % places.count
        }
        return nil
    }

    subscript(peer: PeerID) -> Int? {
        let number = Host.number(in: peer)
        return number < peers.count && peers[number] == peer ? number : nil
    }
}

extension Simulator {
    /// Where a packet for the destination goes next; nil: nowhere.
    func forwardingHost(from host: Host, to destination: Host) -> Host? {
        host.node?.forwardingHop(to: destination.peer, now: host.localTime(now))
            .flatMap { number(of: $0) }.map { hosts[$0] }
    }
}
