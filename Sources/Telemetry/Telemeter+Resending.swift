import NearbyCore

/// What receipts settle, what is sent again, and what goes to disk.
extension Telemeter {
    mutating func take(
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

    mutating func resend(now: Instant, into outputs: inout [Output]) {
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

    mutating func spool(now: Instant, into outputs: inout [Output]) {
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

    mutating func spooled(
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

    mutating func flush(now: Instant, into outputs: inout [Output]) {
        batch(.flush, now: now, into: &outputs)
        emit(journal.takeAllUnspooled(), into: &outputs)
    }
}

extension RunRange {
    init(run: RunID, _ report: ReportEncoder) {
        self.init(run: run, range: report.firstSequence..<report.lastSequence + 1)
    }
}
