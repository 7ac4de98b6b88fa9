import NearbyCore
import Telemetry

@testable import Collector

extension FuzzTarget {
    /// Options 1 | { step 1 | length 2 | body }…
    static let collector = FuzzTarget("collector") { bytes in
        var reader = ByteReader(bytes)
        guard let options = try? reader.readUInt8() else { return }
        var collector = BesetCollector(isDurable: options & 1 == 0, printer: options >> 1 & 3)
        while let step = try? reader.readUInt8(), let length = try? reader.readUInt16(),
            let body = try? reader.readBytes(min(Int(length), reader.remainingCount))
        {
            collector.take(step, Array(body))
        }
        collector.end()
    }
}

/// A collector with a terminal, whose agents send what they like.
private struct BesetCollector {
    private struct Place: Hashable {
        var key: RunKey
        var sequence: UInt64
    }

    private var machine: CollectorMachine
    private var windows = WindowAggregator()
    private let printer: UInt8
    private var table = TablePrinter()
    private var now = Instant.zero + .seconds(1_000)
    private let isDurable: Bool
    /// What the store is writing, and which runs' births it has.
    private var batch: StoreBatch?
    private var stored: Set<RunKey> = []
    private var birthCount = 0
    private var accepted: Set<Place> = []

    init(isDurable: Bool, printer: UInt8) {
        self.isDurable = isDurable
        machine = CollectorMachine(isDurable: isDurable)
        self.printer = printer
        if isDurable { handle(.restored([], [])) }
    }

    /// The step's lower bits say what happens, its upper ones to whom.
    mutating func take(_ step: UInt8, _ body: [UInt8]) {
        let peer = PeerID(high: 1, low: UInt64(step >> 6))
        switch step & 15 {
        case 0..<9: handle(.received(body, from: peer, hops: step >> 4 & 3))
        case 9: wait(milliseconds: Int64(body.first ?? 0) * 8)
        case 10: wait(milliseconds: Int64(body.first ?? 0) * 1_000)
        case 11: answer(isCommitted: true)
        case 12: answer(isCommitted: false)
        case 13: handle(.connected(peer))
        case 14: handle(.disconnected(peer))
        default:
            let offset = body.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
            let rank = ClockRank(rawValue: step >> 4 & 3) ?? .none
            let clock = ClockReading(
                rank: rank, unixOffset: .nanoseconds(Int64(bitPattern: offset)))
            handle(.ownClock(clock))
        }
    }

    mutating func end() {
        handle(.flush)
        answer(isCommitted: true)
        handle(.flush)
        window(.finish)
        precondition(machine.heldReportCount <= Limits.heldReportsMax, "too many are held")
        precondition(machine.peerCount <= Limits.collectorPeersMax, "too many agents")
    }

    private mutating func wait(milliseconds: Int64) {
        now = now + .milliseconds(milliseconds)
        handle(.deadlineReached)
        if let next = machine.nextDeadline { precondition(next > now, "it never sleeps") }
        window(.deadlineReached)
    }

    private mutating func answer(isCommitted: Bool) {
        guard let written = batch else { return }
        batch = nil
        if isCommitted { stored.formUnion(Self.births(written)) }
        handle(isCommitted ? .committed : .refused)
    }

    private static func births(_ batch: StoreBatch) -> [RunKey] {
        batch.births.map { RunKey(peer: $0.peer, run: $0.birth.run) }
    }

    private mutating func handle(_ input: CollectorMachine.Input) {
        for output in machine.handle(input, now: now) {
            switch output {
            case .accepted(let delivery): note(delivery)
            case .born: birthCount += 1
            case .send(let bytes, _), .sendUnreliable(let bytes, _):
                let message = try? TelemetryMessage(parsing: bytes)
                precondition(message != nil, "it sends what nobody understands")
                if case .receipt = message { precondition(isDurable, "a viewer gives a receipt") }
            case .commit(let new): write(new)
            case .diagnostic(.clock(let diagnostic)):
                precondition(!diagnostic.text.isEmpty, "a notice says nothing")
            case .diagnostic: break
            case .drop(_, let count): precondition(count > 0, "nothing is dropped")
            }
        }
        precondition(machine.queuedByteCount < Self.queuedBytesMax, "too much waits")
    }

    /// With room for the message that comes last.
    private static let queuedBytesMax =
        Limits.uncommittedBytesMax + Limits.heldReportBytesMax + (1 << 20)

    private mutating func write(_ new: StoreBatch) {
        precondition(isDurable && batch == nil, "two batches at a time")
        let known = stored.union(Self.births(new))
        for part in new.parts {
            precondition(known.contains(part.key), "readings of a run without a birth")
        }
        batch = new
    }

    /// As long as no run has to be forgotten for others, nothing is taken twice.
    private mutating func note(_ delivery: Delivery) {
        let key = RunKey(peer: delivery.peer, run: delivery.birth.run)
        for reading in delivery.readings {
            let isNew = accepted.insert(Place(key: key, sequence: reading.sequence)).inserted
            precondition(isNew || birthCount > Limits.collectorRunsMax, "taken twice: \(reading)")
        }
        window(.delivery(delivery))
    }

    private mutating func window(_ input: WindowAggregator.Input) {
        for case .window(let window) in windows.handle(input, now: now) { show(window) }
        if case .finish = input { show(windows.current(now: now)) }
    }

    /// No name of an agent's may move the cursor, or begin another line.
    private mutating func show(_ window: Window) {
        guard !window.rows.isEmpty else { return }
        let clock = ShownClock(unixOffset: machine.unixOffset ?? .zero)
        switch printer {
        case 0:
            let text = JSONPrinter().print(window, clock: clock)
            let isPlain = text.utf8.allSatisfy { $0 >= 0x20 || $0 == 0x0a }
            precondition(isPlain, "a control character in \(text)")
            precondition(text.utf8.count { $0 == 0x0a } == window.rows.count, "not a line a row")
        case 1:
            var csv = CSVPrinter()
            precondition(csv.print(window, clock: clock).hasSuffix("\r\n"), "half a line")
        default:
            for line in table.print(window, clock: clock).split(separator: "\n") {
                let isPlain = line.unicodeScalars.allSatisfy {
                    ![.control, .format].contains($0.properties.generalCategory)
                }
                precondition(isPlain, "a control character in \(line)")
                precondition(PrintableText(String(line)).width <= 80, "too wide: \(line)")
            }
        }
    }
}
