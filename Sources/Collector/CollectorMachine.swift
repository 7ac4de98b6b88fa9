import NearbyCore
import Telemetry

extension Limits {
    /// Agents that a collector keeps state for; the one that was silent longest goes.
    public static let collectorPeersMax = 1_024
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
        /// The store goes on without these parts of the batch; `.committed` follows.
        case partsRefused([StoreBatch.Refusal])
        /// What the store's disk has left, bytes.
        case storeSpace(Int)
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
        case notice(CollectorNotice)
        case drop(DropReason, count: Int)
    }

    let isDurable: Bool
    var peers: [PeerID: CollectedPeer] = [:]
    var ledger = CommitLedger()
    var held = HeldReports()
    var quotas = QuotaTable()
    var lostEnds = LostEnds()
    var clocks: ClockBook
    /// What was told of clocks before the store said what it has; nil afterwards.
    var earlyMappings: [ClockMapping]? = []
    var exchange = ClockExchange()
    /// What the births of all `peers` take in memory, roughly.
    var birthByteCount = 0
    /// Whether there were more agents than find room.
    private var hasForgotten = false
    /// Fields of later versions that were passed over.
    public private(set) var skippedFieldCount = 0

    /// - Parameters:
    ///   - isDurable: whether there is a store, and receipts are given.
    ///   - boot: our own.
    ///   - quotas: what each agent may bring, if there is a store.
    ///   - clockSources: the only agents whose clocks ours may follow; empty: all.
    public init(
        isDurable: Bool = false, boot: BootID = BootID(high: 0, low: 0),
        quotas: CollectorQuotas = CollectorQuotas(), clockSources: Set<PeerID> = []
    ) {
        self.isDurable = isDurable
        self.quotas.settings = quotas
        clocks = ClockBook(boot: boot, sources: clockSources)
    }

    public var nextDeadline: Instant? {
        let earliest = min(
            held.nextDeadline ?? .distantFuture, ledger.deadline ?? .distantFuture,
            exchange.nextDeadline ?? .distantFuture, quotas.nextDeadline ?? .distantFuture,
            lostEnds.nextDeadline ?? .distantFuture)
        return earliest == .distantFuture ? nil : earliest
    }

    /// What our own clock is against UTC, by the best that is known.
    public var unixOffset: Duration? { clocks.mapping(for: clocks.ownBoot)?.clock.unixOffset }

    /// Readings that are not in the store yet.
    public var uncommittedCount: Int { ledger.readingCount }

    /// Whether anything is on its way into the store, births and clocks included.
    public var isCommitting: Bool { !ledger.isEmpty }

    /// What waits for the store or for births takes in memory, bytes, roughly.
    public var queuedByteCount: Int { ledger.byteCount + held.byteCount }

    /// Whether the store refused what it was given last.
    public var isStoreRefusing: Bool { ledger.isRefused }

    public var peerCount: Int { peers.count }

    /// Reports that wait for their birth.
    public var heldReportCount: Int { held.count }

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
        case .partsRefused(let parts): partsRefused(parts, now: now, into: &outputs)
        case .storeSpace(let bytes): quotas.freeBytes = bytes
        case .committed: batchCommitted(into: &outputs)
        case .refused: ledger.refused(now: now) { peers[$0.peer]?.birth(of: $0.run) }
        case .flush: commit(now: now, isLast: true, into: &outputs)
        case .deadlineReached:
            let expired = held.expire(now: now)
            if expired > 0 { outputs.append(.drop(.reportWithoutBirth, count: expired)) }
            recordLostEnds(now: now, into: &outputs)
            for kept in quotas.takeKept(now: now) {
                outputs.append(.notice(.quotaKept(kept.quota, of: kept.peer)))
            }
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
        _ incoming: HeldReport, from peer: PeerID, into outputs: inout [Output]
    ) {
        guard makeRoom(for: peer, into: &outputs) else { return }
        // A report that was held came earlier than what released it.
        let lastHeard = peers[peer]?.lastHeard ?? incoming.arrival
        let stranger = newPeer
        peers[peer, default: stranger].lastHeard = max(lastHeard, incoming.arrival)
        // Nothing is taken that cannot be committed: the agent keeps it and sends it again.
        if isDurable {
            if ledger.isFull(for: peer) {
                return outputs.append(.drop(.storeBehind, count: 1))
            }
            guard mayBring([.readings, .store], peer, now: incoming.arrival, into: &outputs)
            else { return }
        }
        let result = peers[peer]?.take(
            incoming, from: peer, refusingAtLimit: isDurable,
            latest: { [clocks] in clocks.latestTime(of: $0, of: peer, now: incoming.arrival) })
        switch result {
        case .needsBirth: hold(incoming, from: peer, into: &outputs)
        case .taken(let taken): record(taken, of: incoming, into: &outputs)
        case nil: break
        }
    }

    private mutating func record(
        _ taken: CollectedPeer.Taken, of incoming: HeldReport, into outputs: inout [Output]
    ) {
        var delivery = taken.delivery
        let unknown = taken.unknownChannels
        date(&delivery, into: &outputs)
        if taken.duplicates > 0 {
            outputs.append(.drop(.reportDuplicate, count: taken.duplicates))
        }
        if taken.absurd > 0 { outputs.append(.drop(.readingTimeAbsurd, count: taken.absurd)) }
        if taken.refused > 0 { outputs.append(.drop(.readingTableFull, count: taken.refused)) }
        if isDurable { note(delivery, taken, now: incoming.arrival, into: &outputs) }
        if unknown > 0 { outputs.append(.drop(.readingUnknownChannel, count: unknown)) }
        if !delivery.readings.isEmpty { outputs.append(.accepted(delivery)) }
        if unknown > 0 { ask(delivery.peer, about: incoming, into: &outputs) }
    }

    // MARK: Births

    private mutating func take(
        _ copy: Birth, from peer: PeerID, now: Instant, into outputs: inout [Output]
    ) {
        guard makeRoom(for: peer, into: &outputs) else { return }
        let stranger = newPeer
        peers[peer, default: stranger].lastHeard = now
        var birth = copy
        birth.sent = nil
        birth.clock = nil
        birth.boot = clocks.boot(birth.boot, of: peer)
        if peers[peer]?.isNew(birth) == true {
            guard adopt(birth, of: peer, now: now, into: &outputs) else { return }
        } else {
            peers[peer]?.touch(birth.run)
        }
        if isDurable, copy.sent != nil, let previous = copy.previous,
            peers[peer]?.isEndRecorded(of: previous.run) == false
        {
            lostEnds.add(previous, of: peer, now: now)
        }
        note(.born(copy, from: peer), now: now, into: &outputs)
        for report in held.takeAll(of: peer) { take(report, from: peer, into: &outputs) }
    }

    /// Returns whether the birth is kept.
    private mutating func adopt(
        _ birth: Birth, of peer: PeerID, now: Instant, into outputs: inout [Output]
    ) -> Bool {
        guard mayBring([.births, .store], peer, now: now, into: &outputs) else { return false }
        quotas.spend(1, of: .births, by: peer, now: now)
        if isDurable, ledger.isFull(for: peer) {
            outputs.append(.drop(.storeBehind, count: 1))
            return false
        }
        while birthByteCount + birth.memoryByteCount > Limits.birthBytesMax {
            guard evict(exceptFor: peer, into: &outputs) else {
                outputs.append(.drop(.readingTableFull, count: 1))
                return false
            }
        }
        guard var state = peers[peer] else { return false }
        let key = RunKey(peer: peer, run: birth.run)
        birthByteCount -= state.birthByteCount
        let isKept = state.take(
            birth, queued: { ledger.numbers(of: key) },
            isPending: { ledger.isPending(RunKey(peer: peer, run: $0)) })
        birthByteCount += state.birthByteCount
        peers[peer] = state
        guard isKept else {
            outputs.append(.drop(.readingTableFull, count: 1))
            return false
        }
        outputs.append(.born(peer, birth))
        if isDurable {
            let byteCount = birth.memoryByteCount + Limits.storedReadingBytes
            quotas.spend(byteCount, of: .store, by: peer, now: now)
            ledger.add(birth, of: peer, now: now)
        }
        return true
    }

    /// Whether none of an agent's quotas is spent; a refusal is counted, and told once.
    mutating func mayBring(
        _ needed: [Quota], _ peer: PeerID, now: Instant, into outputs: inout [Output]
    ) -> Bool {
        for quota in needed where quotas.isSpent(quota, of: peer, now: now) {
            outputs.append(.drop(quota.dropReason, count: 1))
            if quotas.refuse(quota, of: peer, now: now) {
                outputs.append(.notice(.quotaReached(quota, of: peer)))
            }
            return false
        }
        return true
    }

    // MARK: Agents

    /// Whether there is room for the agent, or is now: that which was silent longest goes.
    mutating func makeRoom(for peer: PeerID, into outputs: inout [Output]) -> Bool {
        guard peers[peer] == nil, peers.count >= Limits.collectorPeersMax else { return true }
        if evict(exceptFor: peer, into: &outputs) { return true }
        outputs.append(.drop(.readingTableFull, count: 1))
        return false
    }

    private var newPeer: CollectedPeer {
        var peer = CollectedPeer()
        peer.isHalfForgotten = hasForgotten
        return peer
    }

    /// Of which nothing waits for the store, which would need its births. Equal silence is decided
    /// by PeerID.
    mutating func evict(exceptFor peer: PeerID, into outputs: inout [Output]) -> Bool {
        let idle = peers.filter { $0.key != peer && !ledger.isPending($0.key) }
        let oldest = idle.min { ($0.value.lastHeard, $0.key) < ($1.value.lastHeard, $1.key) }
        guard let oldest, let gone = peers.removeValue(forKey: oldest.key) else { return false }
        birthByteCount -= gone.birthByteCount
        hasForgotten = true
        _ = held.takeAll(of: oldest.key)
        outputs.append(.drop(.readingTableFull, count: 1))
        return true
    }

    // MARK: Reports without a birth

    private mutating func hold(
        _ report: HeldReport, from peer: PeerID, into outputs: inout [Output]
    ) {
        let dropped = held.add(report, of: peer)
        if dropped > 0 { outputs.append(.drop(.reportWithoutBirth, count: dropped)) }
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
}
