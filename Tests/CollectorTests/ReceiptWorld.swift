import NearbyCore
import Telemetry

@testable import Collector

/// One agent that is killed now and then, two collectors whose stores are slow, refuse and lose
/// power, and a network that loses, doubles and reorders: everything from one seed.
///
/// The agent's and the collectors' machines are the real ones; disk and store are plain tables that
/// keep what they were told is durable, and nothing else.
struct ReceiptWorld {
    struct Key: Hashable { var run: RunID; var sequence: UInt64 }

    /// What a collector has on disk.
    struct Disk {
        var rows: [Key: Reading] = [:]
        var runs: [RunKey: StoredRun] = [:]
        var gaps: [Gap] = []
    }

    private struct Event {
        var at: Instant
        var order: Int
        var kind: Kind
        enum Kind {
            case toAgent([UInt8], from: Int, connection: Int)
            case toCollector([UInt8], Int, connection: Int, isReliable: Bool)
            case stored(Int, life: Int, StoreBatch, isRefused: Bool)
            case spooled(life: Int, [SpoolBlock])
            case fetched(life: Int, RunRange, SpoolPlace)
            case sample, trouble
        }
    }

    let agent = Fixture.peer(1)
    private let collectorPeers = [Fixture.peer(2), Fixture.peer(3)]
    private var generator: SeededGenerator
    private var events: [Event] = []
    private var order = 0
    private var now = Instant.zero
    private var telemeter: Telemeter
    private var machines: [CollectorMachine]
    private(set) var disks = [Disk(), Disk()]
    /// Raised with each restart, so that what was under way for the life before is void.
    private var agentLife = 0
    private var lives = [0, 0]
    private var connection = 0
    private var connected: Int?
    /// The agent's spool: what is durable of each run.
    private var spool:
        [RunID: (birth: Birth, blocks: [(range: Range<UInt64>, place: SpoolPlace)])] = [:]
    private var bytes: [SpoolPlace: [UInt8]] = [:]
    private var loss: Double
    /// No more trouble; then no more readings.
    private var isCalm = false
    private var isQuiet = false
    private(set) var measured: [Key: Outcome] = [:]
    /// In memory only when the agent was killed, and no receipt was there.
    private(set) var lostWithThePower: Set<Key> = []
    private(set) var faults: [String] = []

    init(seed: UInt64) throws {
        generator = SeededGenerator(seed: seed)
        loss = Double.random(in: 0...0.4, using: &generator)
        telemeter = try Self.telemeter(run: RunID(value: 0x1_0000))
        machines = [CollectorMachine(isDurable: true), CollectorMachine(isDurable: true)]
        schedule(.zero, .sample)
        schedule(.seconds(5), .trouble)
    }

    private static func telemeter(run: RunID) throws -> Telemeter {
        var settings = Telemeter.Settings(
            run: run, boot: BootID(high: 1, low: 2), node: try NodeDescription(name: "a"))
        settings.journal.spoolAfter = .seconds(5)
        settings.journal.memoryBytesMax = 200_000
        return Telemeter(settings: settings)
    }

    // MARK: Running

    mutating func run(for trouble: Duration, thenCalm calm: Duration) throws {
        try run(until: now + trouble)
        isCalm = true
        loss = 0
        connect(0)
        try run(until: now + calm / 2)
        isQuiet = true
        try run(until: now + calm / 2)
    }

    private mutating func run(until end: Instant) throws {
        while true {
            let event = events.indices.min {
                (events[$0].at, events[$0].order) < (events[$1].at, events[$1].order)
            }
            var next = end
            if let event { next = min(next, events[event].at) }
            next = min(next, telemeter.nextDeadline ?? end)
            for machine in machines { next = min(next, machine.nextDeadline ?? end) }
            now = max(now, next)
            if now >= end { return }
            give(.deadlineReached)
            for index in machines.indices { give(.deadlineReached, to: index) }
            guard let event, events[event].at <= now else { continue }
            let kind = events.remove(at: event).kind
            try handle(kind)
        }
    }

    private mutating func handle(_ kind: Event.Kind) throws {
        switch kind {
        case .toAgent(let message, let index, let connection):
            guard connection == self.connection else { return }
            give(.received(message, from: collectorPeers[index]))
        case .toCollector(let message, let index, let connection, let isReliable):
            guard connection == self.connection || !isReliable else { return }
            give(.received(message, from: agent, hops: 1), to: index)
        case .stored(let index, let life, let batch, let isRefused):
            guard life == lives[index] else { return }
            if !isRefused { store(batch, in: index) }
            give(isRefused ? .refused : .committed, to: index)
        case .spooled(let life, let blocks): if life == agentLife { spooled(blocks) }
        case .fetched(let life, let stretch, let place):
            if life == agentLife { give(.fetched(stretch, bytes[place])) }
        case .sample: if !isQuiet { try sample() }
        case .trouble: try makeTrouble()
        }
    }

    private mutating func schedule(_ delay: Duration, _ kind: Event.Kind) {
        order += 1
        events.append(Event(at: now + delay, order: order, kind: kind))
    }

    private mutating func chance(_ probability: Double) -> Bool {
        Double.random(in: 0..<1, using: &generator) < probability
    }

    // MARK: The agent

    private mutating func sample() throws {
        let name = "c\(Int.random(in: 0..<4, using: &generator))"
        let value = Int64.random(in: -9_999...9_999, using: &generator)
        let outcome =
            chance(0.05) ? Outcome.null(.timeout) : .value(DecimalValue(coefficient: value))
        guard let channel = ChannelDescription(name: name, scale: 0) else { return }
        give(.sample(Sample(channel: channel, outcome: outcome, time: now)))
        let key = Key(run: telemeter.birth.run, sequence: telemeter.readingCount)
        measured[key] = outcome
        schedule(.milliseconds(Int.random(in: 20...200, using: &generator)), .sample)
    }

    private mutating func give(_ input: Telemeter.Input) {
        for output in telemeter.handle(input, now: now) {
            switch output {
            case .sendReliable(let message, let peer): send(message, to: peer, isReliable: true)
            case .sendUnreliable(let message, let peer, _):
                send(message, to: peer, isReliable: false)
            case .spool(let birth, let blocks):
                guard case .birth(let parsed)? = try? TelemetryMessage(parsing: birth) else {
                    continue
                }
                spool[parsed.run, default: (parsed, [])].birth = parsed
                schedule(
                    .milliseconds(Int.random(in: 1...2_000, using: &generator)),
                    .spooled(life: agentLife, blocks))
            case .fetch(let stretch, let place):
                schedule(.milliseconds(5), .fetched(life: agentLife, stretch, place))
            case .forget(let run, let unneeded):
                spool[run]?.blocks.removeAll { unneeded.missing(in: $0.range).isEmpty }
            case .drop(let reason, _):
                if reason != .birthRequestRate {
                    faults.append("agent dropped: \(reason.rawValue)")
                }
            }
        }
    }

    private mutating func spooled(_ blocks: [SpoolBlock]) {
        var places: [(range: Range<UInt64>, place: SpoolPlace)] = []
        for block in blocks {
            let place = SpoolPlace(segment: 1, offset: bytes.count, byteCount: block.bytes.count)
            bytes[place] = block.bytes
            places.append((block.range, place))
            spool[block.run]?.blocks.append((block.range, place))
        }
        give(.spooled(places, evicted: []))
    }

    private mutating func send(_ message: [UInt8], to peer: PeerID, isReliable: Bool) {
        guard let index = collectorPeers.firstIndex(of: peer), index == connected else { return }
        // What is reliable comes in order while the connection lasts.
        let copies = isReliable ? 1 : chance(loss) ? 0 : chance(0.1) ? 2 : 1
        for _ in 0..<copies {
            let delay = isReliable ? 40 : Int.random(in: 1...80, using: &generator)
            schedule(
                .milliseconds(delay),
                .toCollector(message, index, connection: connection, isReliable: isReliable))
        }
    }

    // MARK: The collectors

    private mutating func give(_ input: CollectorMachine.Input, to index: Int) {
        for output in machines[index].handle(input, now: now) {
            switch output {
            case .send(let message, _), .sendUnreliable(let message, _):
                guard index == connected, !chance(loss) else { continue }
                schedule(
                    .milliseconds(Int.random(in: 1...80, using: &generator)),
                    .toAgent(message, from: index, connection: connection))
            case .commit(let batch):
                let isRefused = !isCalm && chance(0.2)
                schedule(
                    .milliseconds(Int.random(in: 1...1_500, using: &generator)),
                    .stored(index, life: lives[index], batch, isRefused: isRefused))
            case .accepted, .born, .diagnostic, .drop: break
            }
        }
    }

    private mutating func store(_ batch: StoreBatch, in index: Int) {
        for born in batch.births {
            let key = RunKey(peer: born.peer, run: born.birth.run)
            let settled = disks[index].runs[key]?.settled ?? NumberRanges()
            disks[index].runs[key] = StoredRun(key: key, birth: born.birth, settled: settled)
        }
        for part in batch.parts {
            if disks[index].runs[part.key] == nil { faults.append("readings before their birth") }
            disks[index].runs[part.key]?.settled.formUnion(part.settled)
            for reading in part.readings {
                let key = Key(run: part.key.run, sequence: reading.sequence)
                if disks[index].rows.updateValue(reading, forKey: key) != nil {
                    faults.append("\(key) was stored twice")
                }
            }
        }
        disks[index].gaps += batch.gaps.map(\.gap)
    }

    // MARK: Trouble

    private mutating func makeTrouble() throws {
        guard !isCalm else { return }
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: try killAgent()
        case 1: killCollector(Int.random(in: 0..<2, using: &generator))
        case 2, 3: disconnect()
        case 4: loss = Double.random(in: 0...0.4, using: &generator)
        default: connect(Int.random(in: 0..<2, using: &generator))
        }
        schedule(.seconds(Int.random(in: 1...15, using: &generator)), .trouble)
    }

    private mutating func disconnect() {
        guard let index = connected else { return }
        connected = nil
        connection += 1
        give(.destinationDown(collectorPeers[index]))
    }

    private mutating func connect(_ index: Int) {
        if connected == index { return }
        disconnect()
        connected = index
        connection += 1
        give(.collectorUp(collectorPeers[index]))
    }

    private mutating func killAgent() throws {
        let run = telemeter.birth.run
        let onDisk = spool[run]?.blocks.map(\.range) ?? []
        for sequence in 1..<telemeter.readingCount + 1 {
            let key = Key(run: run, sequence: sequence)
            guard !onDisk.contains(where: { $0.contains(sequence) }),
                !disks.contains(where: { $0.rows[key] != nil })
            else { continue }
            lostWithThePower.insert(key)
        }
        let index = connected
        disconnect()
        agentLife += 1
        telemeter = try Self.telemeter(run: RunID(value: run.value + 0x1_0000))
        let runs = spool.sorted { $0.key < $1.key }.filter { !$0.value.blocks.isEmpty }
        give(.restore(runs.map { SpooledRun(birth: $0.value.birth, blocks: $0.value.blocks) }, nil))
        if let index { connect(index) }
    }

    private mutating func killCollector(_ index: Int) {
        if connected == index { disconnect() }
        lives[index] += 1
        machines[index] = CollectorMachine(isDurable: true)
        let runs = disks[index].runs.sorted { $0.key < $1.key }.map(\.value)
        give(.restored(runs, []), to: index)
    }

    // MARK: What must hold at the end

    /// Readings that are in neither store although they were neither lost with the power nor
    /// announced, and rows that differ from what was measured.
    var missingOrWrong: [String] {
        var result = faults
        for (key, outcome) in measured {
            let rows = disks.compactMap { $0.rows[key] }
            for row in rows where row.outcome != outcome { result.append("\(key) differs") }
            if rows.isEmpty, !lostWithThePower.contains(key) { result.append("\(key) is missing") }
        }
        for disk in disks {
            for key in disk.rows.keys where measured[key] == nil {
                result.append("\(key) invented")
            }
        }
        return result.sorted()
    }

    var waitingCount: Int { telemeter.waitingCount }
}
