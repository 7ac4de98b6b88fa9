import NearbyCore
import Telemetry

/// What goes to the store and comes back from it, and the receipts that follow.
extension CollectorMachine {
    mutating func restore(_ run: StoredRun, into outputs: inout [Output]) {
        makeRoom(for: run.key.peer, into: &outputs)
        peers[run.key.peer, default: CollectedPeer()].restore(run)
        committed[run.key, default: NumberRanges()].formUnion(run.settled)
    }

    mutating func note(_ delivery: Delivery, hasDuplicates: Bool, _ now: Instant) {
        if !delivery.readings.isEmpty { ledger.add(delivery, now: now) }
        // Who sends what is settled has lost the receipt.
        if hasDuplicates {
            ledger.wantReceipt(RunKey(peer: delivery.peer, run: delivery.birth.run), now: now)
        }
    }

    mutating func take(
        _ gap: Gap, from peer: PeerID, now: Instant, into outputs: inout [Output]
    ) {
        guard isDurable, peers[peer]?.take(gap) == true else {
            return outputs.append(.drop(.telemetryUnexpected, count: 1))
        }
        ledger.add(gap, of: peer, now: now)
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

    mutating func batchCommitted(into outputs: inout [Output]) {
        let settled = ledger.committed()
        // A batch may be older than what the store told when it was opened.
        committed.merge(settled) { $0.union($1) }
        for key in Set(ledger.takeReceiptsDue()).union(settled.keys).sorted() {
            sendReceipt(key, into: &outputs)
        }
    }

    private func sendReceipt(_ key: RunKey, into outputs: inout [Output]) {
        guard let settled = committed[key], let receipt = Receipt(run: key.run, settled: settled)
        else { return }
        outputs.append(.sendUnreliable(TelemetryMessage.receipt(receipt).bytes, to: key.peer))
    }
}
