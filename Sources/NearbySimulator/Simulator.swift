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
        case traffic(host: Int, epoch: Int)
        case crash(host: Int)
        case boot(host: Int)
        case partition(Cut)
        case heal(Cut)
        case side(HostEvent, host: Int, generation: Int)
    }

    typealias Cut = Air.Cut

    public let seed: UInt64
    public let world: World
    public let faults: Faults
    public let hosts: [Host]
    public private(set) var now = Instant.zero
    /// Changes with every datagram that arrives: equal runs have equal hashes.
    public internal(set) var traceHash: UInt64 = 0xcbf2_9ce4_8422_2325
    public internal(set) var sent: SentCounts
    public var invariants = Invariants()
    /// Messages between hosts flow while this is set.
    public var trafficInterval: Duration? {
        get { traffic.interval }
        set { traffic = Traffic(interval: newValue, epoch: traffic.epoch + 1) }
    }
    /// Whether some of them are reliable ones.
    var sendsReliably = true
    private var traffic = Traffic(interval: .milliseconds(500), epoch: 0)

    private struct Traffic {
        var interval: Duration?
        /// What was planned before the interval was set last is void.
        var epoch: Int
    }

    var heap = EventHeap<Event>()
    var air: Air
    var random: SeededGenerator
    private(set) var isFaulty = true
    /// The unicast datagram before the present one.
    var lastSent: [UInt8]?
    /// Journals and stores, if this run has them: then readings are what flows.
    private var ledger: (any ReadingsLedger)?

    /// Sees every datagram that leaves, with its addressee.
    public var tap: (([UInt8], Int) -> Void)?
    /// Sees every numbered message that arrives.
    var heard: ((ArrivedMessage) -> Void)?
    /// Datagrams that a test wants lost.
    public var loses: (([UInt8]) -> Bool)?

    public init(
        seed: UInt64, world: World, faults: Faults = Faults(),
        rekeyAfter: Duration = .seconds(86_400), rekeyFrames: UInt64 = Limits.rekeyFrames
    ) {
        self.seed = seed
        self.world = world
        self.faults = faults
        air = Air(world)
        var random = SeededGenerator(seed: seed)
        sent = SentCounts(hostCount: world.hostCount)
        let lansOfHosts = world.lansOfHosts
        hosts = world.roles.indices.map { number in
            let drift = faults.clockDriftPPM
            let ppm = drift > 0 ? Int64.random(in: -drift...drift, using: &random) : 0
            return Host(
                number: number, role: world.roles[number], lans: lansOfHosts[number],
                seed: random.next(), driftPPM: ppm, rekeyAfter: rekeyAfter,
                rekeyFrames: rekeyFrames)
        }
        self.random = random
    }

    public var datagramCount: Int { sent.datagrams }

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

    /// The hosts' sides are these from now on; no other messages flow.
    package func measure(_ sides: [any HostSide], ledger: any ReadingsLedger) {
        self.ledger = ledger
        for (host, side) in zip(hosts, sides) { host.side = side }
        trafficInterval = nil
    }

    public func crash(host: Int) { perform(.crash(host: host)) }

    /// One host starts and crashes again and again, while others are down.
    package func crashLoop(host: Int, down: [Int], at times: [Instant]) {
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

    /// From now on hosts that are up, and those that boot, send messages.
    func startTraffic(every interval: Duration) {
        trafficInterval = interval
        for host in hosts where host.isUp { planMessages(of: host.number) }
    }

    /// What a program tells its node.
    public func tell(_ input: Node.Input, to host: Int) {
        if hosts[host].isUp { handle(.network(input), at: host) }
    }

    public func cut(lan: Int) { air.cuts.append(.lan(lan)) }

    public func heal(lan: Int) { air.cuts.removeAll { $0 == .lan(lan) } }

    /// Neither hears the other until it is healed.
    func cut(_ one: Int, _ other: Int) {
        air.cuts += [.oneWay(from: one, to: other), .oneWay(from: other, to: one)]
    }

    func heal(_ one: Int, _ other: Int) {
        air.cuts.removeAll {
            $0 == .oneWay(from: one, to: other) || $0 == .oneWay(from: other, to: one)
        }
    }

    /// Who hears whom over the air now.
    var field: RadioField? {
        get { air.field }
        set { air.field = newValue }
    }

    /// Whose PeerID it is.
    func number(of peer: PeerID) -> Int? {
        let number = Host.number(in: peer)
        return number < hosts.count && hosts[number].peer == peer ? number : nil
    }

    /// From here on nothing is lost, delayed for long or changed; cuts heal, and no liar boots.
    public func healAll() {
        isFaulty = false
        ledger?.calm()
        air.cuts.removeAll()
    }

    public func run(for time: Duration) {
        let end = now + time
        while let next = heap.nextTime, next <= end, invariants.failures.isEmpty {
            guard let (time, event) = heap.removeFirst() else { break }
            now = time
            perform(event)
            invariants.check(self)
            if let found = ledger?.takeFailures(), !found.isEmpty {
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
        case .traffic(let number, let epoch):
            if epoch == traffic.epoch { sendMessages(from: number) }
        case .crash(let number):
            hosts[number].crash(now: hosts[number].localTime(now))
            invariants.stepped(hosts[number])
        case .boot(let number): bootNow(number)
        case .partition(let cut): if isFaulty { air.cuts.append(cut) }
        case .heal(let cut): air.cuts.removeAll { $0 == cut }
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
            handle(.network(.linkUp(Host.link(lan), world.kinds[lan])), at: number)
        }
        handle(.boot, at: number)
        planMessages(of: number)
    }

    private func planMessages(of number: Int) {
        guard let interval = traffic.interval else { return }
        heap.insert(
            .traffic(host: number, epoch: traffic.epoch),
            at: now + random.duration(in: .zero..<interval))
    }

    /// Each host sends its collector and its viewers numbered messages of both kinds.
    private func sendMessages(from number: Int) {
        guard hosts[number].isUp, let interval = traffic.interval else { return }
        heap.insert(.traffic(host: number, epoch: traffic.epoch), at: now + interval)
        let host = hosts[number]
        for peer in [host.collector].compactMap({ $0 }) + host.viewers {
            let message = host.nextMessage(at: now)
            handle(.network(.sendUnreliable(message, to: peer, .fresh)), at: number)
            if sendsReliably, host.messagesSent % 4 == 0 {
                handle(.network(.sendReliable(host.nextMessage(at: now), to: peer)), at: number)
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
        invariants.stepped(host)
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
            air.eachReceiver(of: number, on: Host.lan(link)) { receiver, loss in
                guard !isLost(loss) else { return }
                deliver(bytes, from: number, to: receiver, on: link, isMulticast: true)
            }
            countDiscovery(bytes, from: number)
            count(bytes, from: number)
        case .event(let event): take(event, of: host)
        }
    }

    private func take(_ event: Node.Event, of host: Host) {
        switch event {
        case .collector(let peer):
            host.collector = peer
            invariants.addressed(peer, .collector, by: host, self)
        case .viewers(let peers):
            host.viewers = peers
            for peer in peers { invariants.addressed(peer, .viewer, by: host, self) }
        case .message(let message, let sender, let isReliable, let hops):
            guard ledger == nil, host.application == nil else { break }
            invariants.delivered(message, from: sender, isReliable: isReliable, at: host, hosts)
            guard let heard, let arrival = ArrivedMessage(message, hops: hops, at: now) else {
                break
            }
            heard(arrival)
        case .application(let event): host.told.append(event)
        case .echo(let answer, let node, let hops, let time):
            host.echoes[answer.token] = .init(answer: answer, node: node, hops: hops, time: time)
        case .diagnostic(.neighbourLost): sent.neighboursLost += 1
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
}

/// What readings add to a run: they are held to the truth elsewhere.
package protocol ReadingsLedger: AnyObject {
    /// From here on disks neither fail nor dawdle.
    func calm()
    func takeFailures() -> [String]
}

/// What hosts have sent, and how often one fell silent to another.
public struct SentCounts: Sendable {
    public var datagrams = 0
    /// How often hosts gave a neighbour up.
    public var neighboursLost = 0
    /// Of each host, bytes of datagrams.
    public var bytes: [Int]
    /// Of each host.
    public var discoveryFrames: [Int]

    init(hostCount: Int) {
        bytes = Array(repeating: 0, count: hostCount)
        discoveryFrames = bytes
    }
}

/// A numbered message that arrived.
struct ArrivedMessage {
    var sender: Int
    var hops: Int
    var sentAt: Instant
    var time: Duration

    init?(_ message: [UInt8], hops: Int, at now: Instant) {
        var reader = ByteReader(message)
        guard let number = try? reader.readUInt32(), (try? reader.readUInt32()) != nil,
            (try? reader.readUInt64()) != nil, let sentAt = try? reader.readUInt64()
        else { return nil }
        sender = Int(number)
        self.hops = hops
        self.sentAt = Instant(nanoseconds: Int64(truncatingIfNeeded: sentAt))
        time = now - self.sentAt
    }
}
