import NearbyCore
import NearbyEngine

/// What holds after every step, whatever goes wrong.
public struct Invariants {
    public private(set) var failures: [String] = []
    /// Messages that arrived, of both kinds.
    public private(set) var deliveredCount = 0
    /// Of those, how many went which way.
    private var deliveredCounts: [Way: Int] = [:]
    /// Whether anything is checked after a step; `checkNow` does in any case.
    public var checksEveryStep = true
    /// Those in which all routes are followed after every step have so many hosts at most. In
    /// larger ones a step is held to the routes that it changed: a new loop leads over one of them.
    public static let everyRouteMax = 40
    private var routeWatch = RouteWatch()
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

    /// Something happened at the host.
    mutating func stepped(_ host: Host) {
        if checksEveryStep { routeWatch.stepped(host) }
    }

    /// What holds after a step, as far as the step can have changed it.
    mutating func check(_ simulator: Simulator) {
        guard checksEveryStep, let changed = routeWatch.takeChanged() else { return }
        let hosts = simulator.hosts
        guard hosts.count > Self.everyRouteMax else { return checkNow(simulator) }
        for number in changed {
            let host = hosts[number]
            checkTables([host], simulator.now)
            for destination in routeWatch.takeMoved(host, simulator)
            where routeWatch.isCircle(from: number, to: destination) {
                // A node that has just restarted forwards nothing yet.
                var followed = [Int?](repeating: nil, count: hosts.count)
                if isFreeOfLoops(from: host, to: hosts[destination], simulator, &followed) {
                    continue
                }
                return fail(simulator.now, "loop, \(number)–\(destination)")
            }
        }
    }

    /// All that is checked after a step, for all hosts.
    public mutating func checkNow(_ simulator: Simulator) {
        checkLoops(simulator)
        checkTables(simulator.hosts, simulator.now)
    }

    private mutating func fail(_ now: Instant, _ text: String) {
        failures.append("at \(now.nanoseconds) ns: \(text)")
    }

    /// Following next hops never comes back to where it was; not checked while somebody leaps
    /// through the seqnos, nor for five seconds after.
    private mutating func checkLoops(_ simulator: Simulator) {
        let hosts = simulator.hosts
        if hosts.contains(where: { $0.isUp && $0.liar?.leaps == true }) {
            leaperSeenAt = simulator.now
        }
        if let leaperSeenAt, simulator.now - leaperSeenAt < .seconds(5) { return }
        for destination in hosts {
            var followed = [Int?](repeating: nil, count: hosts.count)
            for start in hosts where start.isUp && !start.isLiar {
                if isFreeOfLoops(from: start, to: destination, simulator, &followed) { continue }
                return fail(simulator.now, "loop, \(start.number)–\(destination.number)")
            }
        }
    }

    /// - Parameter followed: of each host, from whom a path to this destination led over it that
    ///   was free of loops. What runs into such a path ends as it did; so a thousand hosts in a row
    ///   are a thousand steps for each destination, not half a million.
    private func isFreeOfLoops(
        from start: Host, to destination: Host, _ simulator: Simulator, _ followed: inout [Int?]
    ) -> Bool {
        var here = start
        while true {
            if let earlier = followed[here.number] { return earlier != start.number }
            followed[here.number] = start.number
            guard let next = simulator.forwardingHost(from: here, to: destination) else {
                return true
            }
            // A liar forwards nothing.
            if next === destination || next.isLiar { return true }
            here = next
        }
    }

    private mutating func checkTables(_ hosts: [Host], _ now: Instant) {
        for host in hosts where !host.isLiar {
            guard let sizes = host.node?.tableSizes else { continue }
            for (name, count, limit) in sizes where count > limit {
                fail(now, "host \(host.number): \(count) \(name) of \(limit)")
            }
        }
    }

    /// Only agents and relays address anybody, and everybody by what it is.
    mutating func addressed(
        _ peer: PeerID?, _ role: Role, by host: Host, _ simulator: Simulator
    ) {
        guard let peer else { return }
        let addressee = simulator.number(of: peer).map { simulator.hosts[$0] }
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
