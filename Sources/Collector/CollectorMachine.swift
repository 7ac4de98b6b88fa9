import NearbyCore
import Telemetry

extension Limits {
    /// Agents that a collector keeps state for; the one that was silent longest goes.
    public static let collectorPeersMax = 1_024
    /// Runs of one agent that a collector keeps state for; that which was silent longest goes.
    public static let collectorRunsMax = 16
    /// Reports of one agent that wait for their birth.
    public static let heldReportsPerPeerMax = 16
    /// Reports of all agents that wait for their births.
    public static let heldReportsMax = 1_024
    /// How long a report waits for its birth.
    public static let heldReportTime: Duration = .seconds(10)
}

/// The collector's side of readings: understands reports by their births, drops what came twice,
/// maps the agents' clocks to ours, and gives receipts for what its store has committed. Without a
/// store it is a viewer, and gives none.
public struct CollectorMachine: Sendable {
    public enum Input: Sendable {
        /// A telemetry message, reliable or not. `hops`: relays on its way, plus one.
        case received([UInt8], from: PeerID, hops: UInt8)
        /// A peer can be asked for its time, or not any more.
        case connected(PeerID)
        case disconnected(PeerID)
        /// What we know of UTC ourselves: at the start, once a minute, and when the clock was set.
        case ownClock(ClockReading)
        /// What the store holds: as soon as it is open.
        case restored([StoredRun], [ClockMapping])
        /// The batch of the last `.commit` is durable.
        case committed
        /// It is not, and nothing of it is; it will be handed over again.
        case refused
        /// Commit at once what waits, as before the process ends.
        case flush
        case deadlineReached
    }

    public enum Output: Hashable, Sendable {
        case accepted(Delivery)
        /// A birth that is new to us.
        case born(PeerID, Birth)
        /// To be sent reliably: a birth request.
        case send([UInt8], to: PeerID)
        /// To be sent unreliably: a receipt, or a time request.
        case sendUnreliable([UInt8], to: PeerID)
        /// To be written in one transaction; answered by `.committed` or `.refused`.
        case commit(StoreBatch)
        /// What people should know of the clocks.
        case clock(ClockNotice)
        case drop(DropReason, count: Int)
    }

    let isDurable: Bool
    var peers: [PeerID: CollectedPeer] = [:]
    var ledger = CommitLedger()
    /// What of each run is durable, as far as this process committed or found it.
    var committed: [RunKey: NumberRanges] = [:]
    var clocks: ClockBook
    var exchange = ClockExchange()
    private var heldCount = 0
    /// The earliest time at which a held report may expire.
    private var expiry = Instant.distantFuture
    /// Fields of later versions that were passed over.
    public private(set) var skippedFieldCount = 0

    /// - Parameters:
    ///   - isDurable: whether there is a store, and receipts are given.
    ///   - boot: our own.
    public init(isDurable: Bool = false, boot: BootID = BootID(high: 0, low: 0)) {
        self.isDurable = isDurable
        clocks = ClockBook(boot: boot)
    }

    public var nextDeadline: Instant? {
        let earliest = min(
            heldCount == 0 ? .distantFuture : expiry, ledger.deadline ?? .distantFuture,
            exchange.nextDeadline ?? .distantFuture)
        return earliest == .distantFuture ? nil : earliest
    }

    /// What our own clock is against UTC, by the best that is known.
    public var unixOffset: Duration? { clocks.mapping(for: clocks.ownBoot)?.clock.unixOffset }

    /// Readings that are not in the store yet.
    public var uncommittedCount: Int { ledger.readingCount }

    /// Whether the store refused what it was given last.
    public var isStoreRefusing: Bool { ledger.isRefused }

    public var peerCount: Int { peers.count }

    /// Reports that wait for their birth.
    public var heldReportCount: Int { heldCount }

    public mutating func handle(_ input: Input, now: Instant) -> [Output] {
        var outputs: [Output] = []
        switch input {
        case .received(let bytes, let peer, let hops):
            receive(bytes, from: peer, hops: hops, now: now, into: &outputs)
        case .connected(let peer): exchange(.connected(peer), now: now, into: &outputs)
        case .disconnected(let peer): exchange(.disconnected(peer), now: now, into: &outputs)
        case .ownClock(let reading): note(.ownClock(reading), now: now, into: &outputs)
        case .restored(let runs, let mappings):
            for run in runs { restore(run, into: &outputs) }
            restore(mappings, of: runs, now: now, into: &outputs)
        case .committed: batchCommitted(into: &outputs)
        case .refused: ledger.refused(now: now) { peers[$0.peer]?.birth(of: $0.run) }
        case .flush: commit(now: now, isLast: true, into: &outputs)
        case .deadlineReached:
            expireHeld(now: now, into: &outputs)
            if exchange.nextDeadline ?? .distantFuture <= now {
                exchange(.deadlineReached, now: now, into: &outputs)
            }
            commit(now: now, into: &outputs)
        }
        return outputs
    }

    private mutating func receive(
        _ bytes: [UInt8], from peer: PeerID, hops: UInt8, now: Instant, into outputs: inout [Output]
    ) {
        do throws(WireError) {
            switch try TelemetryMessage(parsing: bytes, skippedFields: &skippedFieldCount) {
            case .birth(let birth): take(birth, from: peer, now: now, into: &outputs)
            case .report(let report):
                take(HeldReport(report, arrival: now, hops: hops), from: peer, into: &outputs)
            case .timeExchange(.answer(let answer)):
                exchange(.answered(answer, from: peer), now: now, into: &outputs)
            case .gap(let gap): take(gap, from: peer, now: now, into: &outputs)
            case .birthRequest, .receipt, .timeExchange:
                outputs.append(.drop(.telemetryUnexpected, count: 1))
            }
        } catch .unknownType {
            outputs.append(.drop(.telemetryUnknownType, count: 1))
        } catch {
            outputs.append(.drop(Self.reason(forMalformed: bytes), count: 1))
        }
    }

    private static func reason(forMalformed bytes: [UInt8]) -> DropReason {
        switch bytes.first.flatMap(TelemetryTag.init(rawValue:)) {
        case .birth: .birthMalformed
        case .report: .reportMalformed
        default: .messageMalformed
        }
    }

    private mutating func take(
        _ copy: Birth, from peer: PeerID, now: Instant, into outputs: inout [Output]
    ) {
        makeRoom(for: peer, into: &outputs)
        var state = peers[peer] ?? CollectedPeer()
        state.lastHeard = now
        var birth = copy
        birth.sent = nil
        birth.clock = nil
        birth.boot = clocks.boot(birth.boot, of: peer)
        let key = RunKey(peer: peer, run: birth.run)
        let isNew = state.take(birth) {
            ledger.numbers(of: key).union(committed[key] ?? NumberRanges())
        }
        if isNew {
            outputs.append(.born(peer, birth))
            if isDurable { ledger.add(birth, of: peer, now: now) }
        }
        note(.born(copy, from: peer), now: now, into: &outputs)
        let waiting = state.held
        heldCount -= waiting.count
        state.held = []
        peers[peer] = state
        for held in waiting { take(held, from: peer, into: &outputs) }
    }

    private mutating func take(
        _ incoming: HeldReport, from peer: PeerID, into outputs: inout [Output]
    ) {
        makeRoom(for: peer, into: &outputs)
        // A report that was held came earlier than what released it.
        let lastHeard = peers[peer]?.lastHeard ?? incoming.arrival
        peers[peer, default: CollectedPeer()].lastHeard = max(lastHeard, incoming.arrival)
        // Nothing is taken that cannot be committed: the agent keeps it and sends it again.
        if isDurable, ledger.isFull { return outputs.append(.drop(.storeBehind, count: 1)) }
        let result = peers[peer]?.take(
            incoming, from: peer, refusingAtLimit: isDurable,
            latest: { [clocks] in clocks.latestTime(of: $0, of: peer, now: incoming.arrival) })
        switch result {
        case .needsBirth: hold(incoming, from: peer, into: &outputs)
        case .taken(var delivery, let duplicates, let refused, let unknown, let absurd):
            date(&delivery, into: &outputs)
            if absurd > 0 { outputs.append(.drop(.readingTimeAbsurd, count: absurd)) }
            if duplicates > 0 { outputs.append(.drop(.reportDuplicate, count: duplicates)) }
            if refused > 0 { outputs.append(.drop(.readingTableFull, count: refused)) }
            if isDurable { note(delivery, hasDuplicates: duplicates > 0, incoming.arrival) }
            if unknown > 0 { outputs.append(.drop(.readingUnknownChannel, count: unknown)) }
            if !delivery.readings.isEmpty { outputs.append(.accepted(delivery)) }
            if unknown > 0 { ask(peer, about: incoming, into: &outputs) }
        case nil: break
        }
    }

    /// The agent that was silent longest goes; equal silence is decided by PeerID.
    mutating func makeRoom(for peer: PeerID, into outputs: inout [Output]) {
        guard peers[peer] == nil, peers.count >= Limits.collectorPeersMax else { return }
        let oldest = peers.min { ($0.value.lastHeard, $0.key) < ($1.value.lastHeard, $1.key) }
        guard let oldest, let gone = peers.removeValue(forKey: oldest.key) else { return }
        heldCount -= gone.held.count
        committed = committed.filter { $0.key.peer != oldest.key }
        outputs.append(.drop(.readingTableFull, count: 1))
    }

    // MARK: Reports without a birth

    private mutating func hold(
        _ report: HeldReport, from peer: PeerID, into outputs: inout [Output]
    ) {
        if peers[peer, default: CollectedPeer()].held.count >= Limits.heldReportsPerPeerMax {
            peers[peer]?.held.removeFirst()
            heldCount -= 1
            outputs.append(.drop(.reportWithoutBirth, count: 1))
        }
        if heldCount >= Limits.heldReportsMax {
            outputs.append(.drop(.reportWithoutBirth, count: 1))
        } else {
            if heldCount == 0 { expiry = .distantFuture }
            expiry = min(expiry, report.arrival + Limits.heldReportTime)
            peers[peer]?.held.append(report)
            heldCount += 1
        }
        ask(peer, about: report, into: &outputs)
    }

    /// Asks for the birth, at most once a `Limits.birthRequestInterval` and peer.
    private mutating func ask(_ peer: PeerID, about held: HeldReport, into outputs: inout [Output])
    {
        let now = peers[peer]?.lastHeard ?? held.arrival
        if let last = peers[peer]?.lastAsked, now < last + Limits.birthRequestInterval { return }
        peers[peer]?.lastAsked = now
        let request = TelemetryMessage.birthRequest(held.report.birth)
        outputs.append(.send(request.bytes, to: peer))
    }

    private mutating func expireHeld(now: Instant, into outputs: inout [Output]) {
        guard heldCount > 0, now >= expiry else { return }
        var expired = 0
        expiry = .distantFuture
        for peer in peers.keys.sorted() {
            guard let held = peers[peer]?.held, !held.isEmpty else { continue }
            let kept = held.filter { now < $0.arrival + Limits.heldReportTime }
            expired += held.count - kept.count
            peers[peer]?.held = kept
            for report in kept { expiry = min(expiry, report.arrival + Limits.heldReportTime) }
        }
        heldCount -= expired
        if expired > 0 { outputs.append(.drop(.reportWithoutBirth, count: expired)) }
    }
}
