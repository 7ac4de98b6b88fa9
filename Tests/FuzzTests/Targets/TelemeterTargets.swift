import NearbyCore
import Telemetry

extension FuzzTarget {
    /// Options 1 | { step 1 | length 1 | body }…
    static let telemeter = FuzzTarget("telemeter") { bytes in
        var reader = ByteReader(bytes)
        guard let options = try? reader.readUInt8() else { return }
        var agent = BesetAgent(hasSpool: options & 1 == 0, isShortOfMemory: options & 2 != 0)
        while let step = try? reader.readUInt8(), let length = try? reader.readUInt8(),
            let body = try? reader.readBytes(min(Int(length), reader.remainingCount))
        {
            agent.take(step, Array(body))
        }
        agent.end()
    }
}

/// An agent whose collectors and viewers send what they like, and whose disk forgets.
private struct BesetAgent {
    private static let run = RunID(value: 0x100)

    private var telemeter: Telemeter
    private var now = Instant.zero + .seconds(1_000)
    private var disk: [(range: Range<UInt64>, place: SpoolPlace, bytes: [UInt8])] = []
    private var writing: [SpoolBlock]?
    private var asked: [(stretch: RunRange, place: SpoolPlace)] = []
    private var sampleCount: UInt64 = 0
    private let hasSpool: Bool

    init(hasSpool: Bool, isShortOfMemory: Bool) {
        self.hasSpool = hasSpool
        guard let node = try? NodeDescription(name: "north") else {
            preconditionFailure("no node of this name")
        }
        var settings = Telemeter.Settings(
            run: Self.run, boot: BootID(high: 1, low: 2), node: node)
        if hasSpool { settings.journal.spoolAfter = .seconds(2) }
        if isShortOfMemory { settings.journal.memoryBytesMax = 512 }
        telemeter = Telemeter(settings: settings)
    }

    /// The step's lower bits say what happens, its upper ones to whom or how often.
    mutating func take(_ step: UInt8, _ body: [UInt8]) {
        let count = step >> 4
        let peer = PeerID(high: 1, low: UInt64(count & 3))
        switch step & 15 {
        case 0..<5: handle(.received(body, from: peer))
        case 5: handle(.collectorUp(peer))
        case 6: handle(.viewerUp(PeerID(high: 1, low: UInt64(count))))
        case 7: handle(.destinationDown(peer))
        case 8, 9: for _ in 0...count { sample(body) }
        case 10: wait(milliseconds: Int64(body.first ?? 0) * 8)
        case 11: wait(milliseconds: Int64(body.first ?? 0) * 1_000)
        case 12: write(evicting: Int(count & 3))
        case 13: read(count & 1 == 0 ? nil : body)
        case 14: handle(.spoolFailed); writing = nil
        default: handle(.flush)
        }
    }

    mutating func end() {
        handle(.flush)
        wait(milliseconds: 20_000)
        precondition(telemeter.readingCount == sampleCount, "readings come and go")
        precondition(telemeter.waitingCount <= Int(sampleCount), "it keeps what never was")
        precondition(telemeter.pendingCount <= telemeter.waitingCount, "it sends what is settled")
    }

    /// Channel 1 | coefficient 8
    private mutating func sample(_ body: [UInt8]) {
        let name = "c\((body.first ?? 0) % 8)"
        let coefficient = body.dropFirst().prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        guard let description = ChannelDescription(name: name, unit: .celsius, scale: -1) else {
            preconditionFailure("no channel of this name")
        }
        let value = DecimalValue(coefficient: Int64(bitPattern: coefficient), exponent: -1)
        sampleCount += 1
        handle(.sample(Sample(channel: description, outcome: .value(value), time: now)))
    }

    private mutating func wait(milliseconds: Int64) {
        now = now + .milliseconds(milliseconds)
        handle(.deadlineReached)
        if let next = telemeter.nextDeadline { precondition(next > now, "it never sleeps") }
    }

    /// The disk took what it was given, and some of the oldest went for it.
    private mutating func write(evicting count: Int) {
        guard let blocks = writing else { return }
        writing = nil
        let gone = disk.prefix(count).map { RunRange(run: Self.run, range: $0.range) }
        disk.removeFirst(gone.count)
        var places: [(range: Range<UInt64>, place: SpoolPlace)] = []
        for block in blocks {
            let place = SpoolPlace(
                segment: 1, offset: Int(clamping: block.range.lowerBound),
                byteCount: block.bytes.count)
            places.append((block.range, place))
            disk.append((block.range, place, block.bytes))
        }
        handle(.spooled(places, evicted: gone))
    }

    /// The disk gives back what it has, or something else.
    private mutating func read(_ other: [UInt8]?) {
        guard !asked.isEmpty else { return }
        let (stretch, place) = asked.removeFirst()
        handle(.fetched(stretch, other ?? disk.first { $0.place == place }?.bytes))
    }

    private mutating func handle(_ input: Telemeter.Input) {
        // What goes to disk before the end does not wait for what is on its way there.
        var isLast = false
        if case .flush = input { isLast = true }
        for output in telemeter.handle(input, now: now) {
            switch output {
            case .sendReliable(let bytes, _), .sendUnreliable(let bytes, _, _):
                check(bytes)
            case .spool(let birth, let blocks):
                precondition(hasSpool && (writing == nil || isLast), "two batches at a time")
                check(birth)
                for block in blocks { check(block.bytes) }
                writing = (writing ?? []) + blocks
            case .fetch(let stretch, let place): asked.append((stretch, place))
            case .forget: break
            case .drop(_, let count): precondition(count > 0, "nothing is dropped")
            }
        }
    }

    /// What it sends is understood, and tells of readings that were.
    private func check(_ bytes: [UInt8]) {
        guard let message = try? TelemetryMessage(parsing: bytes) else {
            preconditionFailure("it sends what nobody understands")
        }
        guard case .report(let report) = message else { return }
        for entry in report.entries {
            precondition((1...sampleCount).contains(entry.sequence), "a reading that never was")
        }
    }
}
