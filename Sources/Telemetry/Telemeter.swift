import NearbyCore

extension Limits {
    /// Collectors and viewers that one agent serves at a time.
    public static let destinationsMax = 8
    /// At most one birth a destination may be had by asking in this time.
    public static let birthRequestInterval: Duration = .seconds(1)
}

/// The agent's side of readings: numbers channels and readings, keeps the birth true, batches
/// reports, and says what goes to which collector or viewer.
///
/// The birth is raised as late as possible, before the first report that needs it: twenty channels
/// that appear together cost one birth.
public struct Telemeter: Sendable {
    public struct Settings: Sendable {
        public var run: RunID
        public var boot: BootID
        public var node: NodeDescription
        public var previous: PreviousRun?
        /// Size of a report, bytes.
        public var reportBytesMax = 400
        /// How old the oldest reading of a report may grow.
        public var wait: Duration = .milliseconds(250)

        public init(run: RunID, boot: BootID, node: NodeDescription, previous: PreviousRun? = nil) {
            self.run = run
            self.boot = boot
            self.node = node
            self.previous = previous
        }
    }

    public enum Input: Sendable {
        /// All channels that there are now; others are retired. Not needed: samples declare theirs.
        case declare([ChannelDescription])
        case sample(Sample)
        /// A collector or viewer is connected and wants readings.
        case destinationUp(PeerID)
        case destinationDown(PeerID)
        /// A telemetry message from a peer.
        case received([UInt8], from: PeerID)
        /// Send what is open, as before the process ends.
        case flush
        case deadlineReached
    }

    public enum Output: Hashable, Sendable {
        case sendReliable([UInt8], to: PeerID)
        case sendUnreliable([UInt8], to: PeerID)
        case drop(DropReason)
    }

    private struct Destination: Sendable {
        var peer: PeerID
        /// The birth that it was sent last.
        var birthNumber: UInt16?
        var lastAnswer: Instant?
    }

    private let settings: Settings
    private var table = ChannelTable()
    private var birthNumber: UInt16
    /// Channels changed since a birth of this number was sent anywhere.
    private var isBirthStale = false
    private var wasBirthSent = false
    private var lastSequence: UInt64 = 0
    private var journal: Journal
    private var batcher: ReportBatcher
    /// In ascending order of their PeerIDs.
    private var destinations: [Destination] = []
    /// Fields of later versions that were passed over.
    public private(set) var skippedFieldCount = 0

    public init(settings: Settings, journal: Journal = Journal()) {
        self.settings = settings
        self.journal = journal
        birthNumber = Birth.firstNumber(of: settings.run)
        batcher = ReportBatcher(bytesMax: settings.reportBytesMax, wait: settings.wait)
    }

    public var nextDeadline: Instant? { batcher.nextDeadline }

    public mutating func handle(_ input: Input, now: Instant) -> [Output] {
        var outputs: [Output] = []
        switch input {
        case .declare(let descriptions): declare(descriptions, into: &outputs)
        case .sample(let sample): take(sample, now: now, into: &outputs)
        case .destinationUp(let peer): add(peer, now: now, into: &outputs)
        case .destinationDown(let peer): remove(peer, now: now)
        case .received(let bytes, let peer): receive(bytes, from: peer, now: now, into: &outputs)
        case .flush: batch(.flush, now: now, into: &outputs)
        case .deadlineReached: batch(.deadlineReached, now: now, into: &outputs)
        }
        return outputs
    }

    /// The birth as it would be sent now.
    public var birth: Birth {
        Birth(
            number: birthNumber, run: settings.run, boot: settings.boot, node: settings.node,
            channels: table.channels, previous: settings.previous)
    }

    /// Readings taken so far: the last sequence number of the run.
    public var readingCount: UInt64 { lastSequence }

    /// Readings that wait for a collector.
    public var waitingCount: Int { journal.count }

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
            outputs.append(.drop(.readingTableFull))
            return nil
        }
    }

    private mutating func take(_ sample: Sample, now: Instant, into outputs: inout [Output]) {
        guard let channel = channel(for: sample.channel, into: &outputs) else { return }
        lastSequence += 1
        let reading = Reading(
            sequence: lastSequence, channel: channel.number, time: sample.time,
            outcome: sample.outcome)
        let wasFull = journal.append(Report.Entry(reading, scale: channel.scale))
        if wasFull { outputs.append(.drop(.journalFull)) }
        pump(now: now, into: &outputs)
    }

    // MARK: Destinations

    private mutating func add(_ peer: PeerID, now: Instant, into outputs: inout [Output]) {
        destinations.removeAll { $0.peer == peer }
        guard destinations.count < Limits.destinationsMax else {
            outputs.append(.drop(.readingTableFull))
            return
        }
        let index = destinations.firstIndex { $0.peer > peer } ?? destinations.endIndex
        destinations.insert(Destination(peer: peer), at: index)
        sendBirths(now: now, into: &outputs)
        pump(now: now, into: &outputs)
    }

    /// Readings in an open report go back when nobody is left to take it.
    private mutating func remove(_ peer: PeerID, now: Instant) {
        destinations.removeAll { $0.peer == peer }
        guard destinations.isEmpty else { return }
        _ = batcher.handle(.discard, now: now)
        journal.rewind()
    }

    private mutating func receive(
        _ bytes: [UInt8], from peer: PeerID, now: Instant, into outputs: inout [Output]
    ) {
        do throws(WireError) {
            let message = try TelemetryMessage(parsing: bytes, skippedFields: &skippedFieldCount)
            guard case .birthRequest = message,
                let index = destinations.firstIndex(where: { $0.peer == peer })
            else {
                outputs.append(.drop(.telemetryUnexpected))
                return
            }
            if let last = destinations[index].lastAnswer, now < last + Limits.birthRequestInterval {
                outputs.append(.drop(.birthRequestRate))
                return
            }
            destinations[index].lastAnswer = now
            destinations[index].birthNumber = nil
            sendBirths(now: now, into: &outputs)
        } catch .unknownType {
            outputs.append(.drop(.telemetryUnknownType))
        } catch {
            outputs.append(.drop(.messageMalformed))
        }
    }

    // MARK: Reports

    /// Moves readings from the journal into reports while there is somebody to send them to.
    private mutating func pump(now: Instant, into outputs: inout [Output]) {
        while !destinations.isEmpty, let entry = journal.next() {
            batch(.entry(entry), now: now, into: &outputs)
        }
        batch(.deadlineReached, now: now, into: &outputs)
    }

    private mutating func batch(
        _ input: ReportBatcher.Input, now: Instant, into outputs: inout [Output]
    ) {
        for case .complete(let report) in batcher.handle(input, now: now) {
            sendBirths(now: now, into: &outputs)
            let lowestHeld = min(journal.lowestHeld ?? report.firstSequence, report.firstSequence)
            let bytes = report.bytes(birthNumber: birthNumber, lowestHeld: lowestHeld)
            for destination in destinations {
                outputs.append(.sendUnreliable(bytes, to: destination.peer))
            }
            // Without receipts a reading is settled once its report left.
            journal.settle(through: report.lastSequence)
        }
    }

    /// Raises the birth if channels changed, and sends it to those that do not have it.
    private mutating func sendBirths(now: Instant, into outputs: inout [Output]) {
        guard !destinations.isEmpty else { return }
        if isBirthStale, wasBirthSent { birthNumber &+= 1 }
        isBirthStale = false
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
}
