import NearbyCore

/// Whom readings and births are sent to, and what comes back from there.
extension Telemeter {
    mutating func collectorUp(
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
    mutating func add(
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

    mutating func remove(_ peer: PeerID, now: Instant) {
        destinations.removeAll { $0.peer == peer }
        if destinations.isEmpty { _ = batcher.handle(.discard, now: now) }
        guard collector == peer else { return }
        collector = nil
        pacer = ResendPacer()
        journal.rependAll()
    }

    mutating func receive(
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

    mutating func batch(
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

    func lowestHeld(of run: RunID, for report: ReportEncoder) -> UInt64 {
        min(journal.lowestHeld(of: run) ?? report.firstSequence, report.firstSequence)
    }

    /// Raises the birth if channels changed, and sends it to those that do not have it.
    mutating func sendBirths(now: Instant, into outputs: inout [Output]) {
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

    mutating func raiseBirth() {
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
}
