import NearbyCore
import Telemetry

/// What goes to the store and comes back from it, and the receipts that follow.
extension CollectorMachine {
    mutating func restore(_ run: StoredRun, into outputs: inout [Output]) {
        guard makeRoom(for: run.key.peer, into: &outputs) else { return }
        var state = peers[run.key.peer] ?? CollectedPeer()
        birthByteCount -= state.birthByteCount
        state.restore(run)
        birthByteCount += state.birthByteCount
        peers[run.key.peer] = state
        while birthByteCount > Limits.birthBytesMax {
            guard evict(exceptFor: run.key.peer, into: &outputs) else { break }
        }
    }

    /// What a report brought goes to the store, and counts against the agent's quotas.
    mutating func note(
        _ delivery: Delivery, _ taken: CollectedPeer.Taken, now: Instant,
        into outputs: inout [Output]
    ) {
        let key = RunKey(peer: delivery.peer, run: delivery.birth.run)
        let count = delivery.readings.count
        quotas.spend(count, of: .readings, by: key.peer, now: now)
        spendStore(count + taken.elsewhere.count, by: key.peer, now: now)
        noteElsewhere(taken.elsewhere, of: key, now: now, into: &outputs)
        if count > 0 { ledger.add(delivery, now: now) }
        // Who sends what is settled has lost the receipt.
        if taken.duplicates > 0 { ledger.wantReceipt(key, now: now) }
    }

    /// Readings that the agent has settled with somebody else: nobody will ask for them, and the
    /// store says so.
    private mutating func noteElsewhere(
        _ ranges: [Range<UInt64>], of key: RunKey, now: Instant, into outputs: inout [Output]
    ) {
        guard let first = ranges.first, let last = ranges.last else { return }
        for range in ranges {
            let gap = Gap(run: key.run, range: range, reason: .settledElsewhere)
            ledger.add(gap, of: key.peer, now: now)
        }
        guard peers[key.peer]?.tellElsewhere(of: key.run) == true,
            quotas.mayTell(of: key.peer, now: now)
        else { return }
        let span = first.lowerBound..<last.upperBound
        outputs.append(.notice(.settledElsewhere(key, span)))
    }

    mutating func take(
        _ gap: Gap, from peer: PeerID, now: Instant, into outputs: inout [Output]
    ) {
        guard isDurable, peers[peer] != nil else {
            return outputs.append(.drop(.telemetryUnexpected, count: 1))
        }
        if ledger.isFull(for: peer) { return outputs.append(.drop(.storeBehind, count: 1)) }
        guard mayBring([.store], peer, now: now, into: &outputs) else { return }
        switch peers[peer]?.take(gap) {
        case .taken:
            spendStore(1, by: peer, now: now)
            ledger.add(gap, of: peer, now: now)
        case .known: ledger.wantReceipt(RunKey(peer: peer, run: gap.run), now: now)
        case .refused: outputs.append(.drop(.readingTableFull, count: 1))
        case .runUnknown, nil: outputs.append(.drop(.telemetryUnexpected, count: 1))
        }
    }

    /// The ends of killed runs, as their successors told.
    mutating func recordLostEnds(now: Instant, into outputs: inout [Output]) {
        for (key, previous) in lostEnds.takeDue(now: now) {
            if ledger.isFull(for: key.peer) {
                outputs.append(.drop(.storeBehind, count: 1))
                continue
            }
            let lost = peers[key.peer]?.takeLostEnd(of: previous) ?? []
            spendStore(lost.count, by: key.peer, now: now)
            for range in lost {
                let gap = Gap(run: key.run, range: range, reason: .power)
                ledger.add(gap, of: key.peer, now: now)
            }
        }
    }

    private mutating func spendStore(_ rows: Int, by peer: PeerID, now: Instant) {
        quotas.spend(rows * Limits.storedReadingBytes, of: .store, by: peer, now: now)
    }

    mutating func commit(
        now: Instant, isLast: Bool = false, into outputs: inout [Output]
    ) {
        guard isDurable, isLast || ledger.deadline ?? .distantFuture <= now else { return }
        let batch = ledger.takeDue(now: now, isLast: isLast) { key in
            peers[key.peer]?.settled(of: key.run)
        }
        if let batch { return outputs.append(.commit(batch)) }
        for key in ledger.takeReceiptsDue() { sendReceipt(key, into: &outputs) }
    }

    /// A run whose birth the store has lost is given it again. What cannot be written is dropped,
    /// and what was known of the run with it: the agent has no receipt, and sends it again.
    mutating func partsRefused(
        _ parts: [StoreBatch.Refusal], now: Instant, into outputs: inout [Output]
    ) {
        for part in parts {
            let key = part.key
            let birth = peers[key.peer]?.birth(of: key.run)
            switch part.reason {
            case .birthMissing where birth != nil: ledger.leaveOut(key, birth: birth, now: now)
            case .birthMissing: drop(key, "no birth of this run", now: now, into: &outputs)
            case .unwritable(let reason): drop(key, reason, now: now, into: &outputs)
            }
        }
    }

    private mutating func drop(
        _ key: RunKey, _ reason: String, now: Instant, into outputs: inout [Output]
    ) {
        ledger.leaveOut(key, birth: nil, now: now)
        birthByteCount -= peers[key.peer]?.birthByteCount ?? 0
        peers[key.peer]?.forget(key.run)
        birthByteCount += peers[key.peer]?.birthByteCount ?? 0
        outputs.append(.drop(.storePartRefused, count: 1))
        if quotas.mayTell(of: key.peer, now: now) {
            outputs.append(.notice(.partRefused(key, reason: reason)))
        }
    }

    mutating func batchCommitted(into outputs: inout [Output]) {
        let settled = ledger.committed()
        for (key, numbers) in settled.sorted(by: { $0.key < $1.key }) {
            // A batch may be older than what the store told when it was opened.
            peers[key.peer]?.committed.formUnion(numbers, of: key.run)
        }
        for key in Set(ledger.takeReceiptsDue()).union(settled.keys).sorted() {
            sendReceipt(key, into: &outputs)
        }
    }

    private func sendReceipt(_ key: RunKey, into outputs: inout [Output]) {
        guard let settled = peers[key.peer]?.committed[key.run],
            let receipt = Receipt(run: key.run, settled: settled)
        else { return }
        outputs.append(.sendUnreliable(TelemetryMessage.receipt(receipt).bytes, to: key.peer))
    }
}
