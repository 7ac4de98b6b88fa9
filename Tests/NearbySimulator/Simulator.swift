import NearbyCore
import NearbyEngine
import NearbyWire

/// Many real nodes on one virtual clock, with an event heap ordered by (time, insertion) and one
/// seed.
public final class Simulator {
    enum Event {
        case datagram([UInt8], to: Int, from: Endpoint, isMulticast: Bool)
        case returned([UInt8], to: Int, of: Endpoint)
        case deadline(host: Int, generation: Int)
        case traffic(host: Int)
        case crash(host: Int)
        case boot(host: Int)
        case partition(Cut)
        case heal(Cut)
        case side(HostEvent, host: Int, generation: Int)
    }

    /// Datagrams that do not arrive while it holds.
    enum Cut: Equatable {
        case lan(Int)
        case oneWay(from: Int, to: Int)
    }

    public let seed: UInt64
    public let world: World
    public let faults: Faults
    public private(set) var hosts: [Host] = []
    public private(set) var now = Instant.zero
    /// Changes with every datagram that arrives: equal runs have equal hashes.
    public private(set) var traceHash: UInt64 = 0xcbf2_9ce4_8422_2325
    public private(set) var datagramCount = 0
    public private(set) var datagramBytes = 0
    public var invariants = Invariants()
    /// Messages between hosts flow while this is set.
    public var trafficInterval: Duration? = .milliseconds(500)

    private var heap = EventHeap<Event>()
    private var cuts: [Cut] = []
    private var random: SeededGenerator
    private var isFaulty = true
    /// The unicast datagram before the present one.
    private var lastSent: [UInt8]?
    /// Journals and stores, if this run has them: then readings are what flows.
    public private(set) var readings: ReadingsWorld?

    /// Discovery frames that each host sent.
    public private(set) var discoveryFrameCounts: [Int]
    /// Sees every datagram that leaves, with its addressee.
    public var tap: (([UInt8], Int) -> Void)?
    /// Datagrams that a test wants lost.
    public var loses: (([UInt8]) -> Bool)?

    public init(
        seed: UInt64, world: World, faults: Faults = Faults(),
        rekeyAfter: Duration = .seconds(86_400), rekeyFrames: UInt64 = Limits.rekeyFrames,
        liars: [Int: Liar.Lie] = [:]
    ) {
        self.seed = seed
        self.world = world
        self.faults = faults
        random = SeededGenerator(seed: seed)
        discoveryFrameCounts = Array(repeating: 0, count: world.hostCount)
        for number in 0..<world.hostCount {
            let links = world.lans.indices.filter { world.lans[$0].contains(number) }
            let drift = faults.clockDriftPPM
            let ppm = drift > 0 ? Int64.random(in: -drift...drift, using: &random) : 0
            hosts.append(
                Host(
                    number: number, role: world.roles[number], lans: links, seed: random.next(),
                    driftPPM: ppm, rekeyAfter: rekeyAfter, rekeyFrames: rekeyFrames))
        }
        let target = hosts.first { $0.role == .collector } ?? hosts[0]
        for (number, lie) in liars.sorted(by: { $0.key < $1.key }) {
            hosts[number].liar = Liar(
                lie, about: target.peer, own: hosts[number].peer, seed: seed &+ UInt64(number))
        }
    }

    // MARK: Running

    /// Boots all hosts, each at its own time within `spread`, and plans the faults within
    /// `faultTime`.
    public func boot(within spread: Duration, faultTime: Duration = .zero) {
        for host in hosts {
            heap.insert(.boot(host: host.number), at: now + random.duration(in: .zero..<spread))
        }
        plan(from: now + spread, to: now + spread + faultTime)
    }

    public func boot(host: Int, after delay: Duration = .zero) {
        heap.insert(.boot(host: host), at: now + delay)
    }

    /// Agents measure, collectors store; no other messages flow.
    public func measure(_ world: ReadingsWorld) {
        readings = world
        for (host, side) in zip(hosts, world.sides) { host.side = side }
        trafficInterval = nil
    }

    public func crash(host: Int) { perform(.crash(host: host)) }

    /// One host starts and crashes again and again, while others are down.
    func crashLoop(host: Int, down: [Int], at times: [Instant]) {
        for time in times {
            heap.insert(.crash(host: host), at: time)
            heap.insert(.boot(host: host), at: time + .milliseconds(50))
        }
        guard let first = times.first, let last = times.last else { return }
        for number in down {
            heap.insert(.crash(host: number), at: first)
            heap.insert(.boot(host: number), at: last + .seconds(2))
        }
    }

    /// A datagram that no host sent, with whatever source address.
    public func inject(_ bytes: [UInt8], to host: Int, from source: Endpoint) {
        heap.insert(
            .datagram(bytes, to: host, from: source, isMulticast: false),
            at: now + .microseconds(1))
    }

    /// What a program tells its node.
    public func tell(_ input: Node.Input, to host: Int) {
        if hosts[host].isUp { handle(.network(input), at: host) }
    }

    public func cut(lan: Int) { cuts.append(.lan(lan)) }

    public func heal(lan: Int) { cuts.removeAll { $0 == .lan(lan) } }

    /// From here on nothing is lost, delayed for long or changed; cuts heal, and no liar boots.
    public func healAll() {
        isFaulty = false
        readings?.calm()
        cuts.removeAll()
    }

    public func run(for time: Duration) {
        let end = now + time
        while let next = heap.nextTime, next <= end, invariants.failures.isEmpty {
            guard let (time, event) = heap.removeFirst() else { break }
            now = time
            perform(event)
            invariants.check(hosts, at: now)
            if let found = readings?.takeFailures(), !found.isEmpty {
                invariants.add(found.map { "at \(now.nanoseconds) ns: \($0)" })
            }
        }
        now = end
    }

    /// Runs until the condition holds, looking every 10 ms; false if it never did.
    public func run(until condition: () -> Bool, atMost limit: Duration) -> Bool {
        let end = now + limit
        while now < end, invariants.failures.isEmpty {
            if condition() { return true }
            run(for: .milliseconds(10))
        }
        return condition()
    }

    public var allAgentsHaveACollector: Bool {
        hosts.allSatisfy { $0.role.collects || $0.isLiar || ($0.isUp && $0.collector != nil) }
    }

    /// Whether each agent has a channel with each viewer of the world.
    public var allAgentsHaveAllViewers: Bool {
        let viewers = hosts.filter { $0.role == .viewer }.map(\.peer).sorted()
        return hosts.allSatisfy {
            $0.role.collects || $0.isLiar || ($0.isUp && $0.viewers == viewers)
        }
    }

    // MARK: Events

    private func plan(from start: Instant, to end: Instant) {
        guard start < end else { return }
        func moment() -> Instant { start + random.duration(in: .zero..<(end - start)) }
        for _ in 0..<faults.crashes {
            let host = Int.random(in: 0..<hosts.count, using: &random)
            let time = moment()
            heap.insert(.crash(host: host), at: time)
            heap.insert(
                .boot(host: host),
                at: time + random.duration(in: .milliseconds(50)..<Duration.seconds(4)))
        }
        var planned: [Cut] = []
        for _ in 0..<faults.partitions {
            planned.append(.lan(Int.random(in: 0..<world.lans.count, using: &random)))
        }
        for _ in 0..<faults.oneWayPartitions {
            let from = Int.random(in: 0..<hosts.count, using: &random)
            planned.append(.oneWay(from: from, to: Int.random(in: 0..<hosts.count, using: &random)))
        }
        for cut in planned {
            let time = moment()
            heap.insert(.partition(cut), at: time)
            heap.insert(
                .heal(cut), at: time + random.duration(in: .seconds(1)..<Duration.seconds(8)))
        }
    }

    private func perform(_ event: Event) {
        switch event {
        case .datagram(let bytes, let number, let source, let isMulticast):
            guard hosts[number].isUp else {
                return isMulticast ? () : giveBack(bytes, to: source, from: number)
            }
            mix(bytes, number)
            handle(.network(.datagram(bytes, from: source, isMulticast: isMulticast)), at: number)
        case .returned(let quote, let number, let endpoint):
            guard hosts[number].isUp else { return }
            handle(.network(.returned(quote, of: endpoint)), at: number)
        case .deadline(let number, let generation):
            // A deadline that was brought forward fires once, at its new time.
            guard hosts[number].isUp, hosts[number].generation == generation,
                hosts[number].wakeUp == now
            else { return }
            hosts[number].wakeUp = nil
            handle(.deadline, at: number)
        case .traffic(let number): traffic(from: number)
        case .crash(let number):
            hosts[number].crash(now: hosts[number].localTime(now))
        case .boot(let number): bootNow(number)
        case .partition(let cut): if isFaulty { cuts.append(cut) }
        case .heal(let cut): cuts.removeAll { $0 == cut }
        case .side(let event, let number, let generation):
            guard hosts[number].isUp, hosts[number].generation == generation else { return }
            handle(.event(event), at: number)
        }
    }

    private func bootNow(_ number: Int) {
        guard !hosts[number].isUp, isFaulty || !hosts[number].isLiar else { return }
        hosts[number].boot()
        handle(.network(.start), at: number)
        for lan in hosts[number].lans {
            handle(.network(.linkUp(Host.link(lan), .ethernet)), at: number)
        }
        handle(.boot, at: number)
        if let trafficInterval {
            heap.insert(
                .traffic(host: number), at: now + random.duration(in: .zero..<trafficInterval))
        }
    }

    /// Each host sends its collector and its viewers numbered messages of both kinds.
    private func traffic(from number: Int) {
        guard hosts[number].isUp, let trafficInterval else { return }
        heap.insert(.traffic(host: number), at: now + trafficInterval)
        let host = hosts[number]
        for peer in [host.collector].compactMap({ $0 }) + host.viewers {
            handle(.network(.sendUnreliable(host.nextMessage(), to: peer, .fresh)), at: number)
            if host.messagesSent % 4 == 0 {
                handle(.network(.sendReliable(host.nextMessage(), to: peer)), at: number)
            }
        }
    }

    private func handle(_ input: HostInput, at number: Int) {
        let host = hosts[number]
        for effect in host.handle(input, now: host.localTime(now)) {
            switch effect {
            case .node(let output): carryOut(output, of: host)
            case .later(let event, let delay):
                heap.insert(
                    .side(event, host: number, generation: host.generation), at: now + delay)
            }
        }
        invariants.toldAddressees(of: host)
        schedule(host)
    }

    private func carryOut(_ output: Node.Output, of host: Host) {
        let number = host.number
        switch output {
        case .transmit(.unicast(let bytes, let endpoint)):
            countDiscovery(bytes, from: number)
            transmit(bytes, from: number, to: endpoint)
        case .transmit(.multicast(let bytes, let link)),
            .transmit(.broadcast(let bytes, let link)):
            for receiver in world.lans[Host.lan(link)] where receiver != number {
                deliver(bytes, from: number, to: receiver, on: link, isMulticast: true)
            }
            countDiscovery(bytes, from: number)
            count(bytes)
        case .event(let event): take(event, of: host)
        }
    }

    private func take(_ event: Node.Event, of host: Host) {
        switch event {
        case .collector(let peer):
            host.collector = peer
            invariants.addressed(peer, .collector, by: host, hosts)
        case .viewers(let peers):
            host.viewers = peers
            for peer in peers { invariants.addressed(peer, .viewer, by: host, hosts) }
        case .message(let message, let sender, let isReliable, _):
            guard readings == nil, host.application == nil else { break }
            invariants.delivered(message, from: sender, isReliable: isReliable, at: host, hosts)
        case .application(let event): host.told.append(event)
        case .echo(let answer, let node, let hops, let time):
            host.echoes[answer.token] = .init(answer: answer, node: node, hops: hops, time: time)
        case .peer, .diagnostic: break
        }
    }

    /// As if the host's program had asked.
    public func ask(_ token: UInt64, of peer: PeerID, hopLimit: UInt8?, at host: Int) {
        handle(.network(.echo(token: token, to: peer, hopLimit: hopLimit)), at: host)
    }

    private func schedule(_ host: Host) {
        guard let deadline = host.nextDeadline else { return }
        let time = max(host.globalTime(deadline), now + .microseconds(1))
        if let planned = host.wakeUp, planned <= time, planned > now { return }
        host.wakeUp = time
        heap.insert(.deadline(host: host.number, generation: host.generation), at: time)
    }

    // MARK: The air

    private func transmit(_ bytes: [UInt8], from sender: Int, to endpoint: Endpoint) {
        count(bytes)
        precondition(bytes.count <= Limits.datagramBytesMax, "datagram of \(bytes.count) bytes")
        guard case .simulated(let number) = endpoint.address, Int(number) < hosts.count else {
            return
        }
        let members = world.lans[Host.lan(endpoint.link)]
        guard members.contains(sender), members.contains(Int(number)) else { return }
        tap?(bytes, Int(number))
        deliver(bytes, from: sender, to: Int(number), on: endpoint.link, isMulticast: false)
        // Somebody who has seen other datagrams says that this one came back.
        if isFaulty, faults.returnsDatagrams, datagramCount.isMultiple(of: 50) {
            let forged = lastSent ?? []
            heap.insert(
                .returned(forged, to: sender, of: endpoint), at: now + faults.delay.lowerBound)
        }
        lastSent = bytes
    }

    /// As the host's operating system does, which knows that nobody listens there.
    private func giveBack(_ bytes: [UInt8], to source: Endpoint, from host: Int) {
        guard faults.returnsDatagrams, case .simulated(let sender) = source.address else { return }
        let endpoint = Endpoint(link: source.link, address: .simulated(UInt64(host)))
        heap.insert(
            .returned(bytes, to: Int(sender), of: endpoint), at: now + faults.delay.lowerBound)
    }

    private func deliver(
        _ bytes: [UInt8], from sender: Int, to receiver: Int, on link: LinkID, isMulticast: Bool
    ) {
        guard !cuts.contains(.lan(Host.lan(link))),
            !cuts.contains(.oneWay(from: sender, to: receiver)), loses?(bytes) != true
        else { return }
        let source = Endpoint(link: link, address: .simulated(UInt64(sender)))
        var copies = 1
        if isFaulty {
            if percent(faults.lossPercent) { return }
            if percent(faults.duplicationPercent) { copies = 2 }
        }
        for _ in 0..<copies {
            var arriving = bytes
            if isFaulty, percent(faults.corruptionPercent), !arriving.isEmpty {
                let bit = Int.random(in: 0..<arriving.count * 8, using: &random)
                arriving[bit / 8] ^= 1 << (bit % 8)
            }
            heap.insert(
                .datagram(arriving, to: receiver, from: source, isMulticast: isMulticast),
                at: now + random.duration(in: faults.delay))
        }
    }

    private func percent(_ chance: Int) -> Bool {
        chance > 0 && Int.random(in: 0..<100, using: &random) < chance
    }

    private func count(_ bytes: [UInt8]) {
        datagramCount += 1
        datagramBytes += bytes.count
    }

    private func countDiscovery(_ bytes: [UInt8], from sender: Int) {
        if let first = bytes.first, DatagramKind(firstByte: first) == .discovery {
            discoveryFrameCounts[sender] += 1
        }
    }

    private func mix(_ bytes: [UInt8], _ receiver: Int) {
        var hash = traceHash ^ UInt64(bitPattern: now.nanoseconds) ^ UInt64(receiver)
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
        traceHash = hash
    }
}
