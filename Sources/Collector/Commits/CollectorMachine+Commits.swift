import NearbyCore
import Telemetry

/// What goes to the store and comes back from it, and the receipts that follow.
extension CollectorMachine {
    mutating func restore(
        _ runs: [StoredRun], _ mappings: [ClockMapping], now: Instant
    ) -> [Output] {
        var outputs: [Output] = []
        for run in runs { outputs += restore(run) }
        return outputs + restore(mappings, of: runs, now: now)
    }

    private mutating func restore(_ run: StoredRun) -> [Output] {
        var outputs = makeRoom(for: run.key.peer)
        guard hasRoom(for: run.key.peer) else { return outputs }
        var state = peers[run.key.peer] ?? CollectedPeer()
        birthByteCount -= state.birthByteCount
        state.restore(run)
        birthByteCount += state.birthByteCount
        peers[run.key.peer] = state
        while birthByteCount > Limits.birthBytesMax {
            guard evict(exceptFor: run.key.peer) else { break }
            outputs.append(.drop(.readingTableFull))
        }
        return outputs
    }

    /// What a report brought goes to the store, and counts against the agent's quotas.
    mutating func record(
        _ delivery: Delivery, _ accepted: CollectedPeer.Accepted, now: Instant
    ) -> [Output] {
        let key = RunKey(peer: delivery.peer, run: delivery.birth.run)
        let count = delivery.readings.count
        quotas.spend(count, of: .readings, by: key.peer, now: now)
        spendStore(count + accepted.elsewhere.count, by: key.peer, now: now)
        let outputs = recordSettledElsewhere(accepted.elsewhere, of: key, now: now)
        if count > 0 { ledger.add(delivery, now: now) }
        // Who sends what is settled has lost the receipt.
        if accepted.duplicates > 0 { ledger.wantReceipt(key, now: now) }
        return outputs
    }

    /// Readings that the agent has settled with somebody else: nobody will ask for them, and the
    /// store says so.
    private mutating func recordSettledElsewhere(
        _ ranges: [Range<UInt64>], of key: RunKey, now: Instant
    ) -> [Output] {
        guard let first = ranges.first, let last = ranges.last else { return [] }
        for range in ranges {
            let gap = Gap(run: key.run, range: range, reason: .settledElsewhere)
            ledger.add(gap, of: key.peer, now: now)
        }
        guard peers[key.peer]?.reportSettledElsewhere(of: key.run) == true,
            quotas.mayTell(of: key.peer, now: now)
        else { return [] }
        let span = first.lowerBound..<last.upperBound
        return [.diagnostic(.settledElsewhere(key, span))]
    }

    mutating func apply(_ gap: Gap, from peer: PeerID, now: Instant) -> [Output] {
        guard isDurable, peers[peer] != nil else { return [.drop(.telemetryUnexpected)] }
        if ledger.isFull(for: peer) { return [.drop(.storeBehind)] }
        if let refusal = refusal(of: [.store], peer, now: now) { return refusal }
        switch peers[peer]?.apply(gap) {
        case .accepted:
            spendStore(1, by: peer, now: now)
            ledger.add(gap, of: peer, now: now)
        case .known: ledger.wantReceipt(RunKey(peer: peer, run: gap.run), now: now)
        case .refused: return [.drop(.readingTableFull)]
        case .runUnknown, nil: return [.drop(.telemetryUnexpected)]
        }
        return []
    }

    /// The ends of killed runs, as their successors told.
    mutating func recordLostEnds(now: Instant) -> [Output] {
        guard knowsStore else { return [] }
        var outputs: [Output] = []
        for (key, previous) in lostEnds.takeDue(now: now) {
            if ledger.isFull(for: key.peer) {
                outputs.append(.drop(.storeBehind))
                continue
            }
            let lost = peers[key.peer]?.takeLostEnd(of: previous) ?? []
            spendStore(lost.count, by: key.peer, now: now)
            for range in lost {
                let gap = Gap(run: key.run, range: range, reason: .power)
                ledger.add(gap, of: key.peer, now: now)
            }
        }
        return outputs
    }

    private mutating func spendStore(_ rows: Int, by peer: PeerID, now: Instant) {
        quotas.spend(rows * Limits.storedReadingBytes, of: .store, by: peer, now: now)
    }

    mutating func commit(now: Instant, isLast: Bool = false) -> [Output] {
        guard isDurable, isLast || ledger.deadline ?? .distantFuture <= now else { return [] }
        let batch = ledger.takeDue(now: now, isLast: isLast) { key in
            peers[key.peer]?.settled(of: key.run)
        }
        if let batch { return [.commit(batch)] }
        return ledger.takeReceiptsDue().compactMap(receipt)
    }

    /// A run whose birth the store has lost is given it again. What cannot be written is dropped,
    /// and what was known of the run with it: the agent has no receipt, and sends it again.
    mutating func partsRefused(_ parts: [StoreBatch.Refusal], now: Instant) -> [Output] {
        var outputs: [Output] = []
        for part in parts {
            let key = part.key
            let birth = peers[key.peer]?.birth(of: key.run)
            switch part.reason {
            case .birthMissing where birth != nil: ledger.exclude(key, birth: birth, now: now)
            case .birthMissing: outputs += drop(key, "no birth of this run", now: now)
            case .unwritable(let reason): outputs += drop(key, reason, now: now)
            }
        }
        return outputs
    }

    private mutating func drop(_ key: RunKey, _ reason: String, now: Instant) -> [Output] {
        ledger.exclude(key, birth: nil, now: now)
        birthByteCount -= peers[key.peer]?.birthByteCount ?? 0
        peers[key.peer]?.forget(key.run)
        birthByteCount += peers[key.peer]?.birthByteCount ?? 0
        let drop = Output.drop(.storePartRefused)
        let mayTell = quotas.mayTell(of: key.peer, now: now)
        return mayTell ? [drop, .diagnostic(.partRefused(key, reason: reason))] : [drop]
    }

    mutating func batchCommitted() -> [Output] {
        let settled = ledger.committed()
        for (key, numbers) in settled.sorted(by: { $0.key < $1.key }) {
            // A batch may be older than what the store told when it was opened.
            peers[key.peer]?.committed.formUnion(numbers, of: key.run)
        }
        return Set(ledger.takeReceiptsDue()).union(settled.keys).sorted().compactMap(receipt)
    }

    private func receipt(for key: RunKey) -> Output? {
        guard let settled = peers[key.peer]?.committed[key.run],
            let receipt = Receipt(run: key.run, settled: settled)
        else { return nil }
        return .sendUnreliable(TelemetryMessage.receipt(receipt).bytes, to: key.peer)
    }
}
