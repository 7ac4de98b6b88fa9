import NearbyCore

extension Limits {
    /// Collectors and viewers that one agent serves at a time.
    public static let destinationsMax = 8
    /// At most one birth a destination may be had by asking in this time.
    public static let birthRequestInterval: Duration = .seconds(1)
}

/// The agent's side of readings: numbers channels and readings, keeps the birth true, batches
/// reports, keeps readings until a receipt settles them, and says what goes to whom.
///
/// The birth is raised as late as possible, before the first report that needs it: twenty channels
/// that appear together cost one birth. A reading leaves at once in a report to the collector of
/// record, with copies to viewers; what no receipt settles in time is sent again at bulk priority.
public struct Telemeter: Sendable {
    public struct Settings: Sendable {
        public var run: RunID
        public var boot: BootID
        public var node: NodeDescription
        /// Size of a report, bytes.
        public var reportBytesMax = 400
        /// How old the oldest reading of a report may grow.
        public var wait: Duration = .milliseconds(250)
        public var journal = Journal.Settings()

        public init(run: RunID, boot: BootID, node: NodeDescription) {
            self.run = run
            self.boot = boot
            self.node = node
        }
    }

    public enum Input: Sendable {
        /// All channels that there are now; others are retired. Not needed: samples declare theirs.
        case declare([ChannelDescription])
        /// These samples follow: one birth declares all their channels.
        case expect([Sample])
        case sample(Sample)
        /// Runs that ended before, as found on disk, and the last of them.
        case restore([SpooledRun], PreviousRun?)
        /// What this machine knows of UTC: at the start, once a minute, and when it was set.
        case clock(ClockReading)
        /// A collector of record takes readings from now on, instead of another.
        case collectorUp(PeerID)
        /// A viewer wants copies.
        case viewerUp(PeerID)
        case destinationDown(PeerID)
        /// A telemetry message from a peer.
        case received([UInt8], from: PeerID)
        /// A batch is on disk; blocks of these stretches had to go for it.
        case spooled([(range: Range<UInt64>, place: SpoolPlace)], evicted: [RunRange])
        case spoolFailed
        /// A block was read from disk; nil if it could not be.
        case fetched(RunRange, [UInt8]?)
        /// Send the open report: no reading is expected before it would leave.
        case nothingExpected
        /// Send what is open, and bring to disk what is not settled, as before the process ends.
        case flush
        case deadlineReached
    }

    public enum Output: Equatable, Sendable {
        case sendReliable([UInt8], to: PeerID)
        case sendUnreliable([UInt8], to: PeerID, Priority)
        /// Bring to disk: the birth of the present run (a birth message), and blocks of it.
        case spool(birth: [UInt8], [SpoolBlock])
        /// Read from disk.
        case fetch(RunRange, SpoolPlace)
        /// These numbers need not be kept on disk any more.
        case forget(RunID, NumberRanges)
        case drop(DropReason, count: Int = 1)
    }

    struct ReportDestination: Sendable {
        var peer: PeerID
        /// The birth that it was sent last.
        var birthNumber: UInt16?
        /// Runs before this one whose births it was sent.
        var earlierBirths: Set<RunID> = []
        var lastAnswer: Instant?
    }

    let settings: Settings
    var previous: PreviousRun?
    var clock: ClockReading?
    var table = ChannelTable()
    var birthNumber: UInt16 = 1
    /// Channels changed since a birth of this number was sent anywhere.
    var isBirthStale = false
    var wasBirthSent = false
    var lastSequence: UInt64 = 0
    var journal: Journal
    var batcher: ReportBatcher
    var pacer = ResendPacer()
    var spooling = SpoolSchedule()
    /// In ascending order of their PeerIDs, the collector of record among them.
    var destinations: [ReportDestination] = []
    var collector: PeerID?
    var nextGaps = Instant.zero
    /// Kept, since it is asked for after each datagram of the node.
    public private(set) var nextDeadline: Instant?
    /// Fields of later versions that were passed over.
    public internal(set) var skippedFieldCount = 0
    public internal(set) var resentCount: UInt64 = 0

    public init(settings: Settings) {
        self.settings = settings
        journal = Journal(run: settings.run, settings: settings.journal)
        batcher = ReportBatcher(bytesMax: settings.reportBytesMax, wait: settings.wait)
        nextDeadline = earliest
    }

    private var earliest: Instant? {
        var earliest = min(
            batcher.nextDeadline ?? .distantFuture, pacer.nextExpiry ?? .distantFuture)
        if let due = spooling.deadline(of: journal) { earliest = min(earliest, due) }
        if collector != nil {
            if journal.hasPending, spooling.mayFetch, let next = pacer.nextSend {
                earliest = min(earliest, next)
            }
            if journal.hasUnannouncedGaps { earliest = min(earliest, nextGaps) }
        }
        return earliest == .distantFuture ? nil : earliest
    }

    public mutating func handle(_ input: Input, now: Instant) -> [Output] {
        defer { nextDeadline = earliest }
        let outputs = apply(input, now: now)
        let resent = resend(now: now)
        let spooled = spool(now: now)
        // Adding nothing costs a sample a tenth of its time.
        return resent.isEmpty && spooled.isEmpty ? outputs : outputs + resent + spooled
    }

    /// The birth as it would be sent now.
    public var birth: Birth {
        Birth(
            number: birthNumber, run: settings.run, boot: settings.boot, node: settings.node,
            channels: table.channels, previous: previous, clock: clock)
    }

    /// Readings taken so far: the last sequence number of the run.
    public var readingCount: UInt64 { lastSequence }

    /// Readings that no collector has settled.
    public var waitingCount: Int { journal.count }

    /// When the open report leaves, full or not; nil if there is none.
    public var openReportDeadline: Instant? { batcher.nextDeadline }

    /// Readings that are to be sent to the collector, now or when there is one.
    public var pendingCount: Int { journal.pendingCount }

    /// Readings that were given up for want of room.
    public var lostCount: UInt64 { journal.lostCount }

    /// What waiting readings take in memory, bytes.
    public var memoryByteCount: Int { journal.memoryByteCount }

    /// The numbers of a run that are held and not settled.
    package func unsettled(of run: RunID) -> NumberRanges { journal.unsettled(of: run) }

    private mutating func apply(_ input: Input, now: Instant) -> [Output] {
        switch input {
        case .declare(let descriptions): return declare(descriptions)
        case .expect(let samples):
            for sample in samples {
                _ = channel(for: sample.channel, hasScale: sample.outcome.value != nil)
            }
        case .sample(let sample): return record(sample, now: now)
        case .restore(let runs, let previous):
            journal.restore(runs, now: now)
            self.previous = previous ?? self.previous
            if previous != nil { isBirthStale = true }
        case .clock(let reading): record(reading)
        case .collectorUp(let peer): return collectorUp(peer, now: now)
        case .viewerUp(let peer): return add(peer, now: now)
        case .destinationDown(let peer): remove(peer, now: now)
        case .received(let bytes, let peer): return receive(bytes, from: peer, now: now)
        case .spooled(let places, let evicted): return spooled(places, evicted, now)
        case .spoolFailed:
            spooling.failed(now: now)
            return [.drop(.spoolFailed)]
        case .fetched(let stretch, let bytes):
            spooling.fetched()
            journal.fetched(bytes, stretch)
        case .nothingExpected: return batch(.flush, now: now)
        case .flush: return flush(now: now)
        case .deadlineReached: return batch(.deadlineReached, now: now)
        }
        return []
    }

    /// Births are written to disk: a clock that is slewed is no reason for another.
    private mutating func record(_ reading: ClockReading) {
        if let clock, clock.rank == reading.rank {
            let moved = (reading.unixOffset - clock.unixOffset).nanoseconds
            if moved > -10_000_000, moved < 10_000_000 { return }
        }
        clock = reading
    }

    // MARK: Channels and readings

    private mutating func declare(_ descriptions: [ChannelDescription]) -> [Output] {
        if table.retire(allBut: Set(descriptions.map(\.name))) { isBirthStale = true }
        var outputs: [Output] = []
        for description in descriptions where channel(for: description, hasScale: true) == nil {
            outputs.append(.drop(.readingTableFull))
        }
        return outputs
    }

    /// The channel of this description; nil if there are too many.
    private mutating func channel(
        for description: ChannelDescription, hasScale: Bool
    ) -> Channel? {
        switch table.channel(for: description, hasScale: hasScale) {
        case .known(let channel): return channel
        case .changed(let channel):
            isBirthStale = true
            return channel
        case .full: return nil
        }
    }

    private mutating func record(_ sample: Sample, now: Instant) -> [Output] {
        let hasScale = sample.outcome.value != nil
        guard let channel = channel(for: sample.channel, hasScale: hasScale) else {
            return [.drop(.readingTableFull)]
        }
        lastSequence += 1
        let reading = Reading(
            sequence: lastSequence, channel: channel.number, time: sample.time,
            outcome: sample.outcome)
        let entry = Report.Entry(reading, scale: channel.scale)
        let lost = journal.append(entry, now: now)
        let dropped: [Output] = lost > 0 ? [.drop(.journalFull, count: lost)] : []
        guard !destinations.isEmpty else { return dropped }
        // It is on its way from here; an open report that is given up puts it back.
        if collector != nil { journal.sent(lastSequence..<lastSequence + 1) }
        let full = batch(.entry(entry), now: now)
        let due = batch(.deadlineReached, now: now)
        return dropped.isEmpty && due.isEmpty ? full : dropped + full + due
    }
}
