import NearbyCore
import NearbyEngine

/// What holds after every step, whatever goes wrong.
public struct Invariants {
    public private(set) var failures: [String] = []
    /// Messages that arrived, of both kinds.
    public private(set) var deliveredCount = 0
    /// Of those, how many went which way.
    private var deliveredCounts: [Way: Int] = [:]
    /// Whether routes are followed after every step: for large worlds that takes too long.
    public var checksEveryStep = true
    private var routesVersions: [UInt64] = []
    private var leaperSeenAt: Instant?
    private var lastReliable: [Flow: UInt64] = [:]
    private var unreliableSeen: [Flow: Set<UInt64>] = [:]

    private struct Way: Hashable {
        var sender: Int
        var receiver: Int
    }

    private struct Flow: Hashable {
        var sender: UInt32
        var generation: UInt32
        var receiver: Int
        var receiverGeneration: Int
    }

    /// Messages of one host that arrived at another.
    public func deliveredCount(from sender: Int, to receiver: Int) -> Int {
        deliveredCounts[Way(sender: sender, receiver: receiver), default: 0]
    }

    /// Takes over what was found elsewhere.
    mutating func add(_ found: [String]) { failures += found }

    mutating func check(_ hosts: [Host], at now: Instant) {
        guard checksEveryStep else { return }
        let versions = hosts.map(\.routesVersion)
        guard versions != routesVersions else { return }
        routesVersions = versions
        checkLoops(hosts, now)
        checkTables(hosts, now)
    }

    /// All that is checked after a step, once.
    mutating func checkNow(_ hosts: [Host], at now: Instant) {
        checkLoops(hosts, now)
        checkTables(hosts, now)
    }

    /// Following next hops never comes back to where it was; not checked while somebody leaps
    /// through the seqnos, nor for five seconds after.
    private mutating func checkLoops(_ hosts: [Host], _ now: Instant) {
        if hosts.contains(where: { $0.isUp && $0.liar?.leaps == true }) {
            leaperSeenAt = now
        }
        if let leaperSeenAt, now - leaperSeenAt < .seconds(5) { return }
        let nodes = Dictionary(uniqueKeysWithValues: hosts.map { ($0.peer, $0) })
        for destination in hosts {
            for start in hosts where start.isUp && !start.isLiar {
                var here = start
                var steps = 0
                while let hop = here.node?.forwardingHop(
                    to: destination.peer, now: here.localTime(now)),
                    let next = nodes[hop]
                {
                    // A liar forwards nothing.
                    if next.peer == destination.peer || next.isLiar { break }
                    steps += 1
                    if steps > hosts.count {
                        failures.append(
                            "at \(now.nanoseconds) ns: loop, \(start.number)–\(destination.number)"
                        )
                        return
                    }
                    here = next
                }
            }
        }
    }

    private mutating func checkTables(_ hosts: [Host], _ now: Instant) {
        for host in hosts where !host.isLiar {
            guard let sizes = host.node?.tableSizes else { continue }
            for (name, count, limit) in sizes where count > limit {
                failures.append(
                    "at \(now.nanoseconds) ns: host \(host.number): \(count) \(name) of \(limit)"
                )
            }
        }
    }

    /// Only agents and relays address anybody, and everybody by what it is.
    mutating func addressed(_ peer: PeerID?, _ role: Role, by host: Host, _ hosts: [Host]) {
        guard let peer else { return }
        let addressee = hosts.first { $0.peer == peer }
        if host.role.collects || addressee?.role != role {
            failures.append("host \(host.number), \(host.role), took \(peer) for a \(role)")
        }
        if host.viewers.count > Limits.viewersMax {
            failures.append("host \(host.number) has \(host.viewers.count) viewers")
        }
    }

    /// The program was told last what the node has for its collector and its viewers.
    mutating func toldAddressees(of host: Host) {
        // Not `if let`: it would copy the node.
        guard host.node != nil else { return }
        if host.node?.collector != host.collector || host.node?.viewers != host.viewers {
            failures.append("host \(host.number) was not told whom it addresses")
        }
    }

    /// Reliable messages come once and in order; no message is invented or changed.
    mutating func delivered(
        _ message: [UInt8], from sender: PeerID, isReliable: Bool, at receiver: Host,
        _ hosts: [Host]
    ) {
        deliveredCount += 1
        var reader = ByteReader(message)
        guard let number = try? reader.readUInt32(), let generation = try? reader.readUInt32(),
            let sequence = try? reader.readUInt64(), Int(number) < hosts.count,
            hosts[Int(number)].peer == sender
        else {
            failures.append("host \(receiver.number) got a message that nobody sent")
            return
        }
        deliveredCounts[Way(sender: Int(number), receiver: receiver.number), default: 0] += 1
        let flow = Flow(
            sender: number, generation: generation, receiver: receiver.number,
            receiverGeneration: receiver.generation)
        guard isReliable else {
            if !unreliableSeen[flow, default: []].insert(sequence).inserted {
                failures.append("unreliable message \(sequence) of host \(number) came twice")
            }
            return
        }
        if let last = lastReliable[flow], sequence <= last {
            failures.append("reliable message \(sequence) of host \(number) came after \(last)")
        }
        lastReliable[flow] = sequence
    }
}
