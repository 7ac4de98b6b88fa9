import Collector
import NearbyCore
import NearbySimulator
import Telemetry

/// What was measured, and what became of it: told by the sides, and held against what must be.
final class ReadingsTruth {
    struct Measurement {
        var channel: ChannelDescription
        var outcome: Outcome
        var milliseconds: Int64
        var takenAt: Instant
    }

    private struct Run {
        var measured: [Measurement] = []
        /// Of each channel, by its name: that of its first value.
        var scales: [String: Int8] = [:]
        /// In some store.
        var stored = NumberRanges()
        /// By receipts that its agent took.
        var settled = NumberRanges()
        /// In memory only when the agent crashed.
        var lostWithPower = NumberRanges()
        /// By the journal, or with the disk.
        var givenUp = NumberRanges()
        /// Of `givenUp`, what a store knows of, or what the agent crashed with before one did.
        var toldOf = NumberRanges()

        var end: UInt64 { UInt64(measured.count) + 1 }
    }

    /// Of the agents that do not lie about their clocks, by what their readings must be dated.
    private var unixOffsets: [PeerID: Duration] = [:]
    private var runs: [RunKey: Run] = [:]
    private var failures: [String] = []
    private var repeatedCount: UInt64 = 0

    func fail(_ text: String) { failures.append(text) }

    func takeFailures() -> [String] {
        defer { failures = [] }
        return failures
    }

    // MARK: Clocks

    /// What the host's clock is against UTC: 2026, at the simulation's time zero.
    static func unixOffset(of host: Host) -> Duration {
        .seconds(1_795_239_900) - (host.localTime(.zero) - .zero)
    }

    func expectRightDates(of host: Host) { unixOffsets[host.peer] = Self.unixOffset(of: host) }

    /// A store dates a run by this from now on. What claims to be a date must be right, whatever
    /// others say: retention deletes by it.
    func dated(_ key: RunKey, by mapping: ClockMapping) {
        guard let truth = unixOffsets[key.peer], mapping.clock.rank > .none else { return }
        let error = mapping.clock.unixOffset - truth
        let distance = error < .zero ? .zero - error : error
        if distance > mapping.uncertainty + .seconds(2) {
            fail("\(key.run) of \(key.peer) is dated \(error) off the truth")
        }
    }

    // MARK: Told by agents

    /// A run began: it may end without a reading, and its successor tells of it all the same.
    func began(_ key: RunKey) { runs[key] = runs[key] ?? Run() }

    /// The next reading of a run.
    func measured(_ measurement: Measurement, _ sequence: UInt64, of key: RunKey) {
        runs[key, default: Run()].measured.append(measurement)
        let channel = measurement.channel
        if measurement.outcome.value != nil, runs[key]?.scales[channel.name] == nil {
            runs[key]?.scales[channel.name] = channel.scale
        }
        if runs[key]?.end != sequence + 1 { fail("\(key.run): \(sequence) is not the next number") }
    }

    /// A receipt came: whatever it settles is in a store, or lost, and known to be.
    func settled(_ numbers: NumberRanges, of key: RunKey) {
        guard let run = runs[key] else { return fail("a receipt for \(key.run): no such run") }
        for range in numbers.ranges {
            if range.upperBound > run.end {
                fail("\(key.run): a receipt for \(range) of \(run.end - 1)")
            }
            for part in run.settled.missing(in: range) {
                if let open = Self.open(part, run).first {
                    fail("\(key.run): a receipt for \(open), which nobody stored")
                }
                runs[key]?.settled.insert(part)
            }
        }
    }

    /// What a journal must still hold, and must not have dropped.
    func expectedHeld(of key: RunKey) -> NumberRanges {
        var held = NumberRanges()
        guard let run = runs[key] else { return held }
        held.insert(1..<run.end)
        for range in run.settled.ranges + run.givenUp.ranges { held.remove(range) }
        return held
    }

    func givenUp(_ range: Range<UInt64>, of key: RunKey) { runs[key]?.givenUp.insert(range) }

    /// The agent crashed. Returns the oldest reading that went with its memory.
    func crashed(_ key: RunKey, onDisk: NumberRanges) -> Measurement? {
        // What it would have said of losses went too.
        for (known, run) in runs where known.peer == key.peer {
            runs[known]?.toldOf.formUnion(run.givenUp)
        }
        guard let run = runs[key] else { return nil }
        let kept = run.stored.union(onDisk).union(run.givenUp)
        var oldest: Measurement?
        for lost in kept.missing(in: 1..<run.end) {
            runs[key]?.lostWithPower.insert(lost)
            oldest = oldest ?? run.measured[Int(lost.lowerBound) - 1]
        }
        return oldest
    }

    // MARK: Told by collectors

    /// Readings are durable.
    func stored(_ part: StoreBatch.Part, _ birth: Birth) {
        guard var run = runs[part.key] else { return fail("\(part.key.run) stored: no such run") }
        for reading in part.readings {
            guard reading.sequence > 0, reading.sequence < run.end else {
                fail("\(part.key.run): \(reading.sequence) was stored, and not measured")
                continue
            }
            let measured = run.measured[Int(reading.sequence) - 1]
            let channel = birth.channel(reading.channel)?.description
            if reading.outcome != measured.outcome || !Self.isTrue(channel, of: measured, run)
                || reading.time.nanoseconds != measured.milliseconds * 1_000_000
            {
                fail("\(part.key.run): \(reading.sequence) was stored otherwise than measured")
            }
            run.stored.insert(reading.sequence..<reading.sequence + 1)
        }
        runs[part.key] = run
    }

    /// The scale of a channel is a guess while it has given nothing but nulls.
    private static func isTrue(
        _ channel: ChannelDescription?, of measured: Measurement, _ run: Run
    ) -> Bool {
        guard let channel, channel.name == measured.channel.name,
            channel.unit == measured.channel.unit
        else { return false }
        return channel.scale == run.scales[channel.name]
            || measured.outcome.value == nil && channel.scale == 0
    }

    /// A gap is in a store.
    func announced(_ range: Range<UInt64>, of key: RunKey) { runs[key]?.toldOf.insert(range) }

    func repeated(_ count: Int) { repeatedCount += UInt64(count) }

    // MARK: At the end

    /// Every reading is in a store, or went with a crash, or was given up; of what was given up
    /// some store knows.
    var finalFailures: [String] {
        var result: [String] = []
        for (key, run) in runs.sorted(by: { $0.key < $1.key }) {
            for open in Self.open(1..<run.end, run) {
                result.append("\(key.run): \(open) are nowhere in the end")
            }
            let known = run.stored.union(run.toldOf).union(run.lostWithPower)
            for silent in run.givenUp.ranges.flatMap({ known.missing(in: $0) }) {
                result.append("\(key.run): \(silent) were given up, and nobody was told")
            }
        }
        return result
    }

    var counts: ReadingCounts {
        var counts = ReadingCounts(repeated: repeatedCount)
        for run in runs.values {
            counts.measured += run.end - 1
            counts.stored += run.stored.count
            counts.lostWithPower += run.lostWithPower.count
            counts.givenUp += run.givenUp.count
        }
        return counts
    }

    /// What is neither stored nor known to be lost.
    private static func open(_ range: Range<UInt64>, _ run: Run) -> [Range<UInt64>] {
        run.stored.union(run.lostWithPower).union(run.givenUp).missing(in: range)
    }
}
