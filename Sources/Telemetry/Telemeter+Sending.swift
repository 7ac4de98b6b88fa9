import NearbyCore

/// Whom readings and births are sent to, and what comes back from there.
extension Telemeter {
    mutating func collectorUp(_ peer: PeerID, now: Instant) -> [Output] {
        let outputs = add(peer, now: now)
        guard destinations.contains(where: { $0.peer == peer }) else { return outputs }
        collector = peer
        // Nothing is known of what this one has.
        journal.requeueAll()
        pacer = ResendPacer()
        nextGaps = now
        return outputs
    }

    /// At the limit the peer is not among the destinations afterwards.
    mutating func add(_ peer: PeerID, now: Instant) -> [Output] {
        // What is open began before: it goes out as it is, to those that were there.
        let flushed = batch(.flush, now: now)
        destinations.removeAll { $0.peer == peer }
        guard destinations.count < Limits.destinationsMax else {
            return flushed + [.drop(.readingTableFull)]
        }
        let index = destinations.firstIndex { $0.peer > peer } ?? destinations.endIndex
        destinations.insert(ReportDestination(peer: peer), at: index)
        return flushed + sendBirths(now: now)
    }

    mutating func remove(_ peer: PeerID, now: Instant) {
        destinations.removeAll { $0.peer == peer }
        if destinations.isEmpty { _ = batcher.handle(.discard, now: now) }
        guard collector == peer else { return }
        collector = nil
        pacer = ResendPacer()
        journal.requeueAll()
    }

    mutating func receive(_ bytes: [UInt8], from peer: PeerID, now: Instant) -> [Output] {
        do throws(WireError) {
            let message = try TelemetryMessage(parsing: bytes, skippedFields: &skippedFieldCount)
            guard let index = destinations.firstIndex(where: { $0.peer == peer }) else {
                return [.drop(.telemetryUnexpected)]
            }
            switch message {
            case .birthRequest(let reference): return answer(index, about: reference, now)
            // A viewer has nothing durable: its word settles nothing.
            case .receipt(let receipt) where peer == collector: return apply(receipt, now: now)
            case .timeExchange(.request(let asked)):
                return [answerTime(asked, to: peer, now: now)]
            case .birth, .report, .receipt, .timeExchange, .gap:
                return [.drop(.telemetryUnexpected)]
            }
        } catch .unknownType {
            return [.drop(.telemetryUnknownType)]
        } catch {
            return [.drop(.messageMalformed)]
        }
    }

    // MARK: Reports

    mutating func batch(_ input: ReportBatcher.Input, now: Instant) -> [Output] {
        var outputs: [Output] = []
        for case .complete(let report) in batcher.handle(input, now: now) {
            let births = sendBirths(now: now)
            if !births.isEmpty { outputs += births }
            let bytes = report.bytes(
                birth: birth.reference, lowestHeld: lowestHeld(of: settings.run, for: report))
            for destination in destinations {
                outputs.append(.sendUnreliable(bytes, to: destination.peer, .fresh))
            }
            if collector != nil {
                pacer.sent(RunRange(run: settings.run, report), isResend: false, now: now)
            }
        }
        return outputs
    }

    func lowestHeld(of run: RunID, for report: ReportEncoder) -> UInt64 {
        min(journal.lowestHeld(of: run) ?? report.firstSequence, report.firstSequence)
    }

    /// Raises the birth if channels changed, and sends it to those that do not have it.
    mutating func sendBirths(now: Instant) -> [Output] {
        guard !destinations.isEmpty else { return [] }
        raiseBirth()
        wasBirthSent = true
        let waiting = destinations.indices.filter { destinations[$0].birthNumber != birthNumber }
        guard !waiting.isEmpty else { return [] }
        var copy = birth
        copy.sent = now
        let bytes = TelemetryMessage.birth(copy).bytes
        for index in waiting { destinations[index].birthNumber = birthNumber }
        return waiting.map { .sendReliable(bytes, to: destinations[$0].peer) }
    }

    mutating func raiseBirth() {
        if isBirthStale, wasBirthSent { birthNumber &+= 1 }
        isBirthStale = false
    }

    private mutating func answer(
        _ index: Int, about reference: BirthReference, _ now: Instant
    ) -> [Output] {
        if let last = destinations[index].lastAnswer, now < last + Limits.birthRequestInterval {
            return [.drop(.birthRequestRate)]
        }
        destinations[index].lastAnswer = now
        if let earlier = journal.birth(covering: reference) {
            let bytes = TelemetryMessage.birth(earlier).bytes
            return [.sendReliable(bytes, to: destinations[index].peer)]
        }
        destinations[index].birthNumber = nil
        return sendBirths(now: now)
    }

    private func answerTime(_ asked: Instant, to peer: PeerID, now: Instant) -> Output {
        let answer = TimeAnswer(
            asked: asked, received: now, answered: now, boot: settings.boot,
            clock: clock ?? ClockReading(rank: .none, unixOffset: .zero))
        let bytes = TelemetryMessage.timeExchange(.answer(answer)).bytes
        return .sendUnreliable(bytes, to: peer, .control)
    }
}
