import NearbyCore

/// What receipts settle, what is sent again, and what goes to disk.
extension Telemeter {
    mutating func apply(_ receipt: Receipt, now: Instant) -> [Output] {
        let hasLeftDisk = journal.settle(receipt)
        pacer.receiptCame(now: now) { journal.isSettled($0) }
        for run in journal.announceGapsAgain(now: now) {
            for index in destinations.indices { destinations[index].earlierBirths.remove(run) }
        }
        return hasLeftDisk ? [.forget(receipt.run, journal.unneeded(of: receipt.run))] : []
    }

    mutating func resend(now: Instant) -> [Output] {
        for stretch in pacer.expire(now: now) { journal.requeue(stretch) }
        guard let collector else { return [] }
        var outputs: [Output] = []
        if journal.hasUnannouncedGaps, now >= nextGaps {
            nextGaps = now + Limits.gapInterval
            for gap in journal.takeGaps(Limits.gapsTogetherMax, now: now) {
                outputs += sendEarlierBirth(of: gap.run, to: collector)
                outputs.append(.sendReliable(TelemetryMessage.gap(gap).bytes, to: collector))
            }
        }
        while pacer.maySend(now: now), spooling.mayFetch, let (run, taken) = journal.takeNewest() {
            switch taken {
            case .fetch(let place, let range):
                spooling.fetching()
                outputs.append(.fetch(RunRange(run: run, range: range), place))
            case .report(let report):
                outputs += resend(report, of: run, to: collector, now: now)
            }
        }
        return outputs
    }

    private mutating func resend(
        _ report: ReportEncoder, of run: RunID, to collector: PeerID, now: Instant
    ) -> [Output] {
        var outputs =
            run == settings.run
            ? sendBirths(now: now) : sendEarlierBirth(of: run, to: collector)
        let number = journal.birth(of: run)?.number ?? birthNumber
        let bytes = report.bytes(
            birth: BirthReference(run: run, number: number),
            lowestHeld: lowestHeld(of: run, for: report))
        outputs.append(.sendUnreliable(bytes, to: collector, .bulk))
        resentCount += UInt64(report.count)
        pacer.sent(RunRange(run: run, report), isResend: true, now: now)
        return outputs
    }

    private mutating func sendEarlierBirth(of run: RunID, to peer: PeerID) -> [Output] {
        guard let birth = journal.birth(of: run),
            let index = destinations.firstIndex(where: { $0.peer == peer }),
            destinations[index].earlierBirths.insert(run).inserted
        else { return [] }
        return [.sendReliable(TelemetryMessage.birth(birth).bytes, to: peer)]
    }

    // MARK: Disk

    mutating func spool(now: Instant) -> [Output] {
        guard let due = spooling.deadline(of: journal), now >= due else { return [] }
        return emit(journal.takeUnspooled(now: now))
    }

    private mutating func emit(_ blocks: [SpoolBlock]) -> [Output] {
        guard !blocks.isEmpty else { return [] }
        raiseBirth()
        wasBirthSent = true
        spooling.writing()
        return [.spool(birth: TelemetryMessage.birth(birth).bytes, blocks)]
    }

    mutating func spooled(
        _ places: [(range: Range<UInt64>, place: SpoolPlace)], _ evicted: [RunRange],
        _ now: Instant
    ) -> [Output] {
        spooling.written()
        var isUnneeded = false
        for (range, place) in places {
            if !journal.spooled(range, at: place) { isUnneeded = true }
        }
        let before = journal.lostCount
        for stretch in evicted { journal.drop(stretch, .spoolFull) }
        let lost = Int(clamping: journal.lostCount - before)
        var outputs: [Output] = lost > 0 ? [.drop(.journalFull, count: lost)] : []
        // Some was settled while it was being written.
        if isUnneeded {
            outputs.append(.forget(settings.run, journal.unneeded(of: settings.run)))
        }
        return outputs
    }

    mutating func flush(now: Instant) -> [Output] {
        let reports = batch(.flush, now: now)
        return reports + emit(journal.takeAllUnspooled())
    }
}

extension RunRange {
    init(run: RunID, _ report: ReportEncoder) {
        self.init(run: run, range: report.firstSequence..<report.lastSequence + 1)
    }
}
