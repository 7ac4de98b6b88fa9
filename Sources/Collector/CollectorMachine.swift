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

    public enum Output: Equatable, Sendable {
        case accepted(Delivery)
        /// A birth that is new to us.
        case born(PeerID, Birth)
        /// To be sent reliably: a birth request.
        case send([UInt8], to: PeerID)
        /// To be sent unreliably: a receipt, or a time request.
        case sendUnreliable([UInt8], to: PeerID)
        /// To be written in one transaction; answered by `.committed` or `.refused`.
        case commit(StoreBatch)
        case diagnostic(CollectorDiagnostic)
        case drop(DropReason, count: Int = 1)
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
    private var hasEvicted = false
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
            (knowsStore ? lostEnds.nextDeadline : nil) ?? .distantFuture)
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

    /// Whether the store has said what it has, if there is one: before, nobody can say what is
    /// missing there.
    var knowsStore: Bool { !isDurable || earlyMappings == nil }

    public var peerCount: Int { peers.count }

    /// Reports that wait for their birth.
    public var heldReportCount: Int { held.count }

    public mutating func handle(_ input: Input, now: Instant) -> [Output] {
        switch input {
        case .received(let bytes, let peer, let hops):
            return receive(bytes, from: peer, hops: hops, now: now)
        case .connected(let peer): return exchange(.connected(peer), now: now)
        case .disconnected(let peer): return exchange(.disconnected(peer), now: now)
        case .ownClock(let reading): return record(.ownClock(reading), now: now)
        case .restored(let runs, let mappings): return restore(runs, mappings, now: now)
        case .partsRefused(let parts): return partsRefused(parts, now: now)
        case .storeSpace(let bytes): quotas.freeBytes = bytes
        case .committed: return batchCommitted()
        case .refused: ledger.refused(now: now) { peers[$0.peer]?.birth(of: $0.run) }
        case .flush: return commit(now: now, isLast: true)
        case .deadlineReached: return deadlineReached(now: now)
        }
        return []
    }

    private mutating func deadlineReached(now: Instant) -> [Output] {
        var outputs: [Output] = []
        let expired = held.expire(now: now)
        if expired > 0 { outputs.append(.drop(.reportWithoutBirth, count: expired)) }
        outputs += recordLostEnds(now: now)
        for kept in quotas.takeKept(now: now) {
            outputs.append(.diagnostic(.quotaKept(kept.quota, of: kept.peer)))
        }
        if exchange.nextDeadline ?? .distantFuture <= now {
            outputs += exchange(.deadlineReached, now: now)
        }
        return outputs + commit(now: now)
    }

    private mutating func receive(
        _ bytes: [UInt8], from peer: PeerID, hops: UInt8, now: Instant
    ) -> [Output] {
        if let refused = refuseUnread(bytes, from: peer, now: now) { return refused }
        do throws(WireError) {
            switch try TelemetryMessage(parsing: bytes, skippedFields: &skippedFieldCount) {
            case .birth(let birth): return receive(birth, from: peer, now: now)
            case .report(let report):
                return receive(HeldReport(report, arrival: now, hops: hops), from: peer)
            case .timeExchange(.answer(let answer)):
                return exchange(.answered(answer, from: peer), now: now)
            case .gap(let gap): return apply(gap, from: peer, now: now)
            case .birthRequest, .receipt, .timeExchange: return [.drop(.telemetryUnexpected)]
            }
        } catch .unknownType {
            return [.drop(.telemetryUnknownType)]
        } catch {
            return [.drop(Self.reason(forMalformed: bytes))]
        }
    }

    /// A report that could not be committed is not parsed: a flood would leave the store no time.
    private mutating func refuseUnread(
        _ bytes: [UInt8], from peer: PeerID, now: Instant
    ) -> [Output]? {
        guard isDurable, bytes.first == TelemetryTag.report.rawValue, peers[peer] != nil,
            ledger.isFull(for: peer)
        else { return nil }
        peers[peer]?.lastHeard = now
        return [.drop(.storeBehind)]
    }

    private static func reason(forMalformed bytes: [UInt8]) -> DropReason {
        switch bytes.first.flatMap(TelemetryTag.init(rawValue:)) {
        case .birth: .birthMalformed
        case .report: .reportMalformed
        default: .messageMalformed
        }
    }

    private mutating func receive(_ incoming: HeldReport, from peer: PeerID) -> [Output] {
        if hasRoom(for: peer) { return accept(incoming, from: peer) }
        let evicted = makeRoom(for: peer)
        return hasRoom(for: peer) ? evicted + accept(incoming, from: peer) : evicted
    }

    private mutating func accept(_ incoming: HeldReport, from peer: PeerID) -> [Output] {
        let newcomer = newPeer
        peers[peer, default: newcomer].heard(incoming.arrival)
        // Nothing is accepted that cannot be committed: the agent keeps it and sends it again.
        if isDurable {
            if ledger.isFull(for: peer) { return [.drop(.storeBehind)] }
            if let refusal = refusal(of: [.readings, .store], peer, now: incoming.arrival) {
                return refusal
            }
        }
        let raisesFloor = knowsStore
        let result = peers[peer]?.accept(
            incoming, from: peer, refusingAtLimit: isDurable, raisesFloor: raisesFloor,
            latest: { [clocks] in clocks.latestTime(of: $0, of: peer, now: incoming.arrival) })
        switch result {
        case .needsBirth: return hold(incoming, from: peer)
        case .accepted(let accepted): return record(accepted, of: incoming)
        case nil: return []
        }
    }

    private mutating func record(
        _ accepted: CollectedPeer.Accepted, of incoming: HeldReport
    ) -> [Output] {
        var delivery = accepted.delivery
        let unknown = accepted.unknownChannels
        var outputs = date(&delivery)
        if accepted.duplicates > 0 {
            outputs.append(.drop(.reportDuplicate, count: accepted.duplicates))
        }
        if accepted.implausible > 0 {
            outputs.append(.drop(.readingTimeImplausible, count: accepted.implausible))
        }
        if accepted.refused > 0 {
            outputs.append(.drop(.readingTableFull, count: accepted.refused))
        }
        if isDurable { outputs += record(delivery, accepted, now: incoming.arrival) }
        if unknown > 0 { outputs.append(.drop(.readingUnknownChannel, count: unknown)) }
        if !delivery.readings.isEmpty { outputs.append(.accepted(delivery)) }
        if unknown > 0 { outputs += requestBirth(of: delivery.peer, for: incoming) }
        return outputs
    }

    // MARK: Births

    private mutating func receive(_ copy: Birth, from peer: PeerID, now: Instant) -> [Output] {
        var outputs = makeRoom(for: peer)
        guard hasRoom(for: peer) else { return outputs }
        let newcomer = newPeer
        peers[peer, default: newcomer].lastHeard = now
        var birth = copy
        birth.sent = nil
        birth.clock = nil
        birth.boot = clocks.boot(birth.boot, of: peer)
        if peers[peer]?.isNew(birth) == true {
            let (isKept, told) = adopt(birth, of: peer, now: now)
            outputs += told
            guard isKept else { return outputs }
        } else {
            peers[peer]?.touch(birth.run)
        }
        if isDurable, copy.sent != nil, let previous = copy.previous,
            peers[peer]?.isEndRecorded(of: previous.run) == false
        {
            lostEnds.add(previous, of: peer, now: now)
        }
        outputs += record(.born(copy, from: peer), now: now)
        for report in held.takeAll(of: peer) { outputs += receive(report, from: peer) }
        return outputs
    }

    private mutating func adopt(
        _ birth: Birth, of peer: PeerID, now: Instant
    ) -> (isKept: Bool, outputs: [Output]) {
        if let refusal = refusal(of: [.births, .store], peer, now: now) { return (false, refusal) }
        quotas.spend(1, of: .births, by: peer, now: now)
        if isDurable, ledger.isFull(for: peer) { return (false, [.drop(.storeBehind)]) }
        var outputs: [Output] = []
        while birthByteCount + birth.memoryByteCount > Limits.birthBytesMax {
            // Of the agent that goes, or of this birth.
            outputs.append(.drop(.readingTableFull))
            guard evict(exceptFor: peer) else { return (false, outputs) }
        }
        guard var state = peers[peer] else { return (false, outputs) }
        let key = RunKey(peer: peer, run: birth.run)
        birthByteCount -= state.birthByteCount
        let isKept = state.record(
            birth, queued: { ledger.numbers(of: key) },
            isPending: { ledger.isPending(RunKey(peer: peer, run: $0)) })
        birthByteCount += state.birthByteCount
        peers[peer] = state
        guard isKept else { return (false, outputs + [.drop(.readingTableFull)]) }
        outputs.append(.born(peer, birth))
        if isDurable {
            let byteCount = birth.memoryByteCount + Limits.storedReadingBytes
            quotas.spend(byteCount, of: .store, by: peer, now: now)
            ledger.add(birth, of: peer, now: now)
        }
        return (true, outputs)
    }

    /// Nil if none of an agent's quotas is spent; a refusal is counted, and told once.
    mutating func refusal(of needed: [Quota], _ peer: PeerID, now: Instant) -> [Output]? {
        guard let spent = needed.first(where: { quotas.isSpent($0, of: peer, now: now) })
        else { return nil }
        let drop = Output.drop(spent.dropReason)
        let isNews = quotas.refuse(spent, of: peer, now: now)
        return isNews ? [drop, .diagnostic(.quotaReached(spent, of: peer))] : [drop]
    }

    // MARK: Agents

    /// That which was silent longest goes for a new agent, or there is no room for it.
    mutating func makeRoom(for peer: PeerID) -> [Output] {
        if hasRoom(for: peer) { return [] }
        _ = evict(exceptFor: peer)
        return [.drop(.readingTableFull)]
    }

    func hasRoom(for peer: PeerID) -> Bool {
        peers.count < Limits.collectorPeersMax || peers[peer] != nil
    }

    private var newPeer: CollectedPeer {
        var peer = CollectedPeer()
        peer.mayHaveBeenEvicted = hasEvicted
        return peer
    }

    /// One of which nothing waits for the store, which would need its births. Equal silence is
    /// decided by PeerID.
    ///
    /// - Returns: whether there was one.
    mutating func evict(exceptFor peer: PeerID) -> Bool {
        let idle = peers.filter { $0.key != peer && !ledger.isPending($0.key) }
        let oldest = idle.min { ($0.value.lastHeard, $0.key) < ($1.value.lastHeard, $1.key) }
        guard let oldest, let gone = peers.removeValue(forKey: oldest.key) else { return false }
        birthByteCount -= gone.birthByteCount
        hasEvicted = true
        _ = held.takeAll(of: oldest.key)
        return true
    }

    // MARK: Reports without a birth

    private mutating func hold(_ report: HeldReport, from peer: PeerID) -> [Output] {
        let dropped = held.add(report, of: peer)
        let outputs: [Output] = dropped > 0 ? [.drop(.reportWithoutBirth, count: dropped)] : []
        return outputs + requestBirth(of: peer, for: report)
    }

    /// Asks for the birth, at most once a `Limits.birthRequestInterval` and peer.
    private mutating func requestBirth(of peer: PeerID, for held: HeldReport) -> [Output] {
        let now = peers[peer]?.lastHeard ?? held.arrival
        if let last = peers[peer]?.lastBirthRequest, now < last + Limits.birthRequestInterval {
            return []
        }
        peers[peer]?.lastBirthRequest = now
        let request = TelemetryMessage.birthRequest(held.report.birth)
        return [.send(request.bytes, to: peer)]
    }
}
