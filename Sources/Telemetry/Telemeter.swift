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
        /// Send what is open, and bring to disk what is not settled, as before the process ends.
        case flush
        case deadlineReached
    }

    public enum Output: Hashable, Sendable {
        case sendReliable([UInt8], to: PeerID)
        case sendUnreliable([UInt8], to: PeerID, Priority)
        /// Bring to disk: the birth of the present run (a birth message), and blocks of it.
        case spool(birth: [UInt8], [SpoolBlock])
        /// Read from disk.
        case fetch(RunRange, SpoolPlace)
        /// These numbers need not be kept on disk any more.
        case forget(RunID, NumberRanges)
        case drop(DropReason, count: Int)
    }

    private struct Destination: Sendable {
        var peer: PeerID
        /// The birth that it was sent last.
        var birthNumber: UInt16?
        /// Runs before this one whose births it was sent.
        var earlierBirths: Set<RunID> = []
        var lastAnswer: Instant?
    }

    private let settings: Settings
    private var previous: PreviousRun?
    private var clock: ClockReading?
    private var table = ChannelTable()
    private var birthNumber: UInt16 = 1
    /// Channels changed since a birth of this number was sent anywhere.
    private var isBirthStale = false
    private var wasBirthSent = false
    private var lastSequence: UInt64 = 0
    private var journal: Journal
    private var batcher: ReportBatcher
    private var pacer = ResendPacer()
    private var spooling = SpoolSchedule()
    /// In ascending order of their PeerIDs, the collector of record among them.
    private var destinations: [Destination] = []
    private var collector: PeerID?
    private var nextGaps = Instant.zero
    /// Fields of later versions that were passed over.
    public private(set) var skippedFieldCount = 0
    public private(set) var resentCount: UInt64 = 0

    public init(settings: Settings) {
        self.settings = settings
        journal = Journal(run: settings.run, settings: settings.journal)
        batcher = ReportBatcher(bytesMax: settings.reportBytesMax, wait: settings.wait)
    }

    public var nextDeadline: Instant? {
        var earliest = min(
            batcher.nextDeadline ?? .distantFuture, pacer.nextExpiry ?? .distantFuture)
        if let due = spooling.deadline(of: journal) { earliest = min(earliest, due) }
        if collector != nil {
            if journal.hasPending, spooling.mayFetch, let next = pacer.nextSend {
                earliest = min(earliest, next)
            }
            if journal.hasUntoldGaps { earliest = min(earliest, nextGaps) }
        }
        return earliest == .distantFuture ? nil : earliest
    }

    public mutating func handle(_ input: Input, now: Instant) -> [Output] {
        var outputs: [Output] = []
        switch input {
        case .declare(let descriptions): declare(descriptions, into: &outputs)
        case .sample(let sample): take(sample, now: now, into: &outputs)
        case .restore(let runs, let previous):
            journal.restore(runs, now: now)
            self.previous = previous ?? self.previous
            if previous != nil { isBirthStale = true }
        case .clock(let reading): note(reading)
        case .collectorUp(let peer): collectorUp(peer, now: now, into: &outputs)
        case .viewerUp(let peer): add(peer, now: now, into: &outputs)
        case .destinationDown(let peer): remove(peer, now: now)
        case .received(let bytes, let peer): receive(bytes, from: peer, now: now, into: &outputs)
        case .spooled(let places, let evicted): spooled(places, evicted, now, into: &outputs)
        case .spoolFailed:
            spooling.failed(now: now)
            outputs.append(.drop(.spoolFailed, count: 1))
        case .fetched(let stretch, let bytes):
            spooling.fetched()
            journal.fetched(bytes, stretch)
        case .flush: flush(now: now, into: &outputs)
        case .deadlineReached: batch(.deadlineReached, now: now, into: &outputs)
        }
        resend(now: now, into: &outputs)
        spool(now: now, into: &outputs)
        return outputs
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

    /// Readings that are to be sent to the collector, now or when there is one.
    public var pendingCount: Int { journal.pendingCount }

    /// Readings that were given up for want of room.
    public var lostCount: UInt64 { journal.lostCount }

    /// What waiting readings take in memory, bytes.
    public var memoryByteCount: Int { journal.memoryByteCount }

    /// The numbers of a run that are held and not settled.
    package func unsettled(of run: RunID) -> NumberRanges { journal.unsettled(of: run) }

    /// Births are written to disk: a clock that is slewed is no reason for another.
    private mutating func note(_ reading: ClockReading) {
        if let clock, clock.rank == reading.rank {
            let moved = (reading.unixOffset - clock.unixOffset).nanoseconds
            if moved > -10_000_000, moved < 10_000_000 { return }
        }
        clock = reading
    }

    // MARK: Channels and readings

    private mutating func declare(
        _ descriptions: [ChannelDescription], into outputs: inout [Output]
    ) {
        if table.retire(allBut: Set(descriptions.map(\.name))) { isBirthStale = true }
        for description in descriptions { _ = channel(for: description, into: &outputs) }
    }

    private mutating func channel(
        for description: ChannelDescription, into outputs: inout [Output]
    ) -> Channel? {
        switch table.channel(for: description) {
        case .known(let channel): return channel
        case .added(let channel):
            isBirthStale = true
            return channel
        case .full:
            outputs.append(.drop(.readingTableFull, count: 1))
            return nil
        }
    }

    private mutating func take(_ sample: Sample, now: Instant, into outputs: inout [Output]) {
        guard let channel = channel(for: sample.channel, into: &outputs) else { return }
        lastSequence += 1
        let reading = Reading(
            sequence: lastSequence, channel: channel.number, time: sample.time,
            outcome: sample.outcome)
        let entry = Report.Entry(reading, scale: channel.scale)
        let lost = journal.append(entry, now: now)
        if lost > 0 { outputs.append(.drop(.journalFull, count: lost)) }
        guard !destinations.isEmpty else { return }
        // It is on its way from here; an open report that is given up puts it back.
        if collector != nil { journal.sent(lastSequence..<lastSequence + 1) }
        batch(.entry(entry), now: now, into: &outputs)
        batch(.deadlineReached, now: now, into: &outputs)
    }

    // MARK: Destinations

    private mutating func collectorUp(
        _ peer: PeerID, now: Instant, into outputs: inout [Output]
    ) {
        guard add(peer, now: now, into: &outputs) else { return }
        collector = peer
        // Nothing is known of what this one has.
        journal.rependAll()
        pacer = ResendPacer()
        nextGaps = now
    }

    @discardableResult
    private mutating func add(
        _ peer: PeerID, now: Instant, into outputs: inout [Output]
    ) -> Bool {
        // What is open began before: it goes out as it is, to those that were there.
        batch(.flush, now: now, into: &outputs)
        destinations.removeAll { $0.peer == peer }
        guard destinations.count < Limits.destinationsMax else {
            outputs.append(.drop(.readingTableFull, count: 1))
            return false
        }
        let index = destinations.firstIndex { $0.peer > peer } ?? destinations.endIndex
        destinations.insert(Destination(peer: peer), at: index)
        sendBirths(now: now, into: &outputs)
        return true
    }

    private mutating func remove(_ peer: PeerID, now: Instant) {
        destinations.removeAll { $0.peer == peer }
        if destinations.isEmpty { _ = batcher.handle(.discard, now: now) }
        guard collector == peer else { return }
        collector = nil
        pacer = ResendPacer()
        journal.rependAll()
    }

    private mutating func receive(
        _ bytes: [UInt8], from peer: PeerID, now: Instant, into outputs: inout [Output]
    ) {
        do throws(WireError) {
            let message = try TelemetryMessage(parsing: bytes, skippedFields: &skippedFieldCount)
            guard let index = destinations.firstIndex(where: { $0.peer == peer }) else {
                return outputs.append(.drop(.telemetryUnexpected, count: 1))
            }
            switch message {
            case .birthRequest(let reference): answer(index, about: reference, now, into: &outputs)
            // A viewer has nothing durable: its word settles nothing.
            case .receipt(let receipt) where peer == collector:
                take(receipt, now: now, into: &outputs)
            case .timeExchange(.request(let asked)):
                answerTime(asked, to: peer, now: now, into: &outputs)
            case .birth, .report, .receipt, .timeExchange, .gap:
                outputs.append(.drop(.telemetryUnexpected, count: 1))
            }
        } catch .unknownType {
            outputs.append(.drop(.telemetryUnknownType, count: 1))
        } catch {
            outputs.append(.drop(.messageMalformed, count: 1))
        }
    }

    // MARK: Reports

    private mutating func batch(
        _ input: ReportBatcher.Input, now: Instant, into outputs: inout [Output]
    ) {
        for case .complete(let report) in batcher.handle(input, now: now) {
            sendBirths(now: now, into: &outputs)
            let bytes = report.bytes(
                birth: birth.reference, lowestHeld: lowestHeld(of: settings.run, for: report))
            for destination in destinations {
                outputs.append(.sendUnreliable(bytes, to: destination.peer, .fresh))
            }
            if collector != nil {
                pacer.sent(RunRange(run: settings.run, report), isResend: false, now: now)
            }
        }
    }

    private func lowestHeld(of run: RunID, for report: ReportEncoder) -> UInt64 {
        min(journal.lowestHeld(of: run) ?? report.firstSequence, report.firstSequence)
    }

    /// Raises the birth if channels changed, and sends it to those that do not have it.
    private mutating func sendBirths(now: Instant, into outputs: inout [Output]) {
        guard !destinations.isEmpty else { return }
        raiseBirth()
        wasBirthSent = true
        let waiting = destinations.indices.filter { destinations[$0].birthNumber != birthNumber }
        guard !waiting.isEmpty else { return }
        var copy = birth
        copy.sent = now
        let bytes = TelemetryMessage.birth(copy).bytes
        for index in waiting {
            destinations[index].birthNumber = birthNumber
            outputs.append(.sendReliable(bytes, to: destinations[index].peer))
        }
    }

    private mutating func raiseBirth() {
        if isBirthStale, wasBirthSent { birthNumber &+= 1 }
        isBirthStale = false
    }

    private mutating func answer(
        _ index: Int, about reference: BirthReference, _ now: Instant, into outputs: inout [Output]
    ) {
        if let last = destinations[index].lastAnswer, now < last + Limits.birthRequestInterval {
            return outputs.append(.drop(.birthRequestRate, count: 1))
        }
        destinations[index].lastAnswer = now
        if let earlier = journal.birth(covering: reference) {
            let bytes = TelemetryMessage.birth(earlier).bytes
            return outputs.append(.sendReliable(bytes, to: destinations[index].peer))
        }
        destinations[index].birthNumber = nil
        sendBirths(now: now, into: &outputs)
    }

    private func answerTime(
        _ asked: Instant, to peer: PeerID, now: Instant, into outputs: inout [Output]
    ) {
        let answer = TimeAnswer(
            asked: asked, received: now, answered: now, boot: settings.boot,
            clock: clock ?? ClockReading(rank: .none, unixOffset: .zero))
        let bytes = TelemetryMessage.timeExchange(.answer(answer)).bytes
        outputs.append(.sendUnreliable(bytes, to: peer, .control))
    }

    // MARK: Receipts and sending again

    private mutating func take(
        _ receipt: Receipt, now: Instant, into outputs: inout [Output]
    ) {
        let hasLeftDisk = journal.settle(receipt)
        pacer.receiptCame(now: now) { journal.isSettled($0) }
        for run in journal.retellGaps(now: now) {
            for index in destinations.indices { destinations[index].earlierBirths.remove(run) }
        }
        if hasLeftDisk {
            outputs.append(.forget(receipt.run, journal.unneeded(of: receipt.run)))
        }
    }

    private mutating func resend(now: Instant, into outputs: inout [Output]) {
        for stretch in pacer.expire(now: now) { journal.repend(stretch) }
        guard let collector else { return }
        if journal.hasUntoldGaps, now >= nextGaps {
            nextGaps = now + Limits.gapInterval
            for gap in journal.takeGaps(Limits.gapsTogetherMax, now: now) {
                sendEarlierBirth(of: gap.run, to: collector, into: &outputs)
                outputs.append(.sendReliable(TelemetryMessage.gap(gap).bytes, to: collector))
            }
        }
        while pacer.maySend(now: now), spooling.mayFetch, let (run, taken) = journal.takeNewest() {
            switch taken {
            case .fetch(let place, let range):
                spooling.fetching()
                outputs.append(.fetch(RunRange(run: run, range: range), place))
            case .report(let report):
                resend(report, of: run, to: collector, now: now, into: &outputs)
            }
        }
    }

    private mutating func resend(
        _ report: ReportEncoder, of run: RunID, to collector: PeerID, now: Instant,
        into outputs: inout [Output]
    ) {
        if run == settings.run {
            sendBirths(now: now, into: &outputs)
        } else {
            sendEarlierBirth(of: run, to: collector, into: &outputs)
        }
        let number = journal.birth(of: run)?.number ?? birthNumber
        let bytes = report.bytes(
            birth: BirthReference(run: run, number: number),
            lowestHeld: lowestHeld(of: run, for: report))
        outputs.append(.sendUnreliable(bytes, to: collector, .bulk))
        resentCount += UInt64(report.count)
        pacer.sent(RunRange(run: run, report), isResend: true, now: now)
    }

    private mutating func sendEarlierBirth(
        of run: RunID, to peer: PeerID, into outputs: inout [Output]
    ) {
        guard let birth = journal.birth(of: run),
            let index = destinations.firstIndex(where: { $0.peer == peer }),
            destinations[index].earlierBirths.insert(run).inserted
        else { return }
        outputs.append(.sendReliable(TelemetryMessage.birth(birth).bytes, to: peer))
    }

    // MARK: Disk

    private mutating func spool(now: Instant, into outputs: inout [Output]) {
        guard let due = spooling.deadline(of: journal), now >= due else { return }
        emit(journal.takeUnspooled(now: now), into: &outputs)
    }

    private mutating func emit(_ blocks: [SpoolBlock], into outputs: inout [Output]) {
        guard !blocks.isEmpty else { return }
        raiseBirth()
        wasBirthSent = true
        spooling.writing()
        outputs.append(.spool(birth: TelemetryMessage.birth(birth).bytes, blocks))
    }

    private mutating func spooled(
        _ places: [(range: Range<UInt64>, place: SpoolPlace)], _ evicted: [RunRange],
        _ now: Instant, into outputs: inout [Output]
    ) {
        spooling.written()
        var isUnneeded = false
        for (range, place) in places {
            if !journal.spooled(range, at: place) { isUnneeded = true }
        }
        let before = journal.lostCount
        for stretch in evicted { journal.drop(stretch, .spoolFull) }
        let lost = Int(clamping: journal.lostCount - before)
        if lost > 0 { outputs.append(.drop(.journalFull, count: lost)) }
        guard isUnneeded else { return }
        // Some was settled while it was being written.
        outputs.append(.forget(settings.run, journal.unneeded(of: settings.run)))
    }

    private mutating func flush(now: Instant, into outputs: inout [Output]) {
        batch(.flush, now: now, into: &outputs)
        emit(journal.takeAllUnspooled(), into: &outputs)
    }
}

extension RunRange {
    init(run: RunID, _ report: ReportEncoder) {
        self.init(run: run, range: report.firstSequence..<report.lastSequence + 1)
    }
}
