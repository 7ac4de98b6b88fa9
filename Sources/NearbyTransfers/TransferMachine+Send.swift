import NearbyCore

/// What leaves, and when.
extension TransferMachine {
    /// When a loss is certain, a probe is due, an acknowledgement leaves or the pace allows more.
    public var nextDeadline: Instant? {
        guard isReachable else { return nil }
        var next = lossDeadline ?? probeDeadline ?? .distantFuture
        for lane in received { next = min(next, lane.deadline ?? .distantFuture) }
        if hasSomething, path.mayTransmit, !path.window.hasCredit {
            next = min(next, path.paceDeadline ?? .distantFuture)
        }
        return next == .distantFuture ? nil : next
    }

    private var lossDeadline: Instant? {
        var first: Instant?
        for lane in sent {
            if let deadline = lane.lossDeadline { first = min(first ?? deadline, deadline) }
        }
        return first
    }

    /// RFC 9002 §6.2.
    private var probeDeadline: Instant? {
        oldestLane.map { max(sent[$0].lastSentAt, path.probedAt) + path.probeTimeout }
    }

    /// The lane with packets under way that was silent for longer.
    private var oldestLane: Int? {
        sent.indices.filter { sent[$0].inFlightCount > 0 }
            .min { sent[$0].lastSentAt < sent[$1].lastSentAt }
    }

    private var hasSomething: Bool {
        !frames.isEmpty || outgoingStreams.hasReady || outgoingResources.hasReady
    }

    mutating func deadlineReached(_ now: Instant, _ outputs: inout [Output]) {
        guard isReachable else { return }
        for lane in sent.indices where sent[lane].lossDeadline ?? .distantFuture <= now {
            detectLosses(in: lane, now)
        }
        if lossDeadline == nil, let lane = oldestLane, probeDeadline ?? .distantFuture <= now {
            probe(lane, now, &outputs)
        }
    }

    /// Asks a silent path with two packets: with what is under way for longest (RFC 9002 §6.2.4).
    private mutating func probe(_ lane: Int, _ now: Instant, _ outputs: inout [Output]) {
        path.probed(now: now)
        for packet in sent[lane].oldest(2) { sendAgain(packet) }
        for count in 0..<2 {
            if let message = nextPacket(now) {
                outputs.append(message)
            } else if count == 0 {
                outputs.append(packet(.allCases[lane], [.ping], now))
            }
        }
    }

    /// Sends what window and pace allow, and the acknowledgements that are due.
    mutating func transmit(_ now: Instant, _ outputs: inout [Output]) {
        guard isReachable else { return }
        path.window.isShared = now < sharedUntil
        path.refill(now: now)
        var isHeldUp = true
        while path.mayTransmit, path.window.hasCredit, sent.allSatisfy(\.hasRoom) {
            guard let message = nextPacket(now) else {
                isHeldUp = false
                break
            }
            outputs.append(message)
        }
        path.transmitted(isHeldUp: isHeldUp)
        if received.contains(where: { $0.deadline ?? .distantFuture <= now }) {
            outputs.append(contentsOf: acknowledge(now))
        }
    }

    /// Acknowledgements alone: they have no number and want no acknowledgement.
    private mutating func acknowledge(_ now: Instant) -> [Output] {
        var writer = ByteWriter(reserving: 64)
        TransferPacket.emitHead(lane: .reliable, number: nil, into: &writer)
        let head = writer.count
        writeAcknowledgements(&writer, most: Limits.messageBytesMax, now)
        return writer.count > head ? [.send(writer.bytes, .control)] : []
    }

    /// Both lanes' news, as far as there is room.
    private mutating func writeAcknowledgements(
        _ writer: inout ByteWriter, most: Int, _ now: Instant
    ) {
        for lane in received.indices {
            let budget = (most - writer.count) / (received.count - lane)
            guard
                let frame = received[lane].acknowledgement(byteBudget: budget, now: now)
            else { continue }
            TransferFrame.acknowledgement(frame).emit(into: &writer)
            received[lane].acknowledged(now: now)
        }
    }

    // MARK: Packets

    /// The next packet, of streams or of a resource; nil: there is nothing to send.
    private mutating func nextPacket(_ now: Instant) -> Output? {
        let isFirst = !frames.isEmpty || outgoingStreams.hasReady
        if isFirst, bulkSkips < Limits.bulkSkipsMax || !outgoingResources.hasReady,
            let message = reliablePacket(now)
        {
            bulkSkips = outgoingResources.hasReady ? bulkSkips + 1 : 0
            return message
        }
        bulkSkips = 0
        if outgoingResources.hasReady, let message = bulkPacket(now) { return message }
        return isFirst ? reliablePacket(now) : nil
    }

    private mutating func reliablePacket(_ now: Instant) -> Output? {
        var (writer, packet) = begin(.reliable)
        while let frame = frames.first {
            let before = writer.count
            var trial = writer
            frame.emit(into: &trial)
            guard trial.count <= Self.packetBytesMax else { break }
            writer = trial
            packet.byteCount += writer.count - before
            packet.others.append(.frame(frame))
            frames.popFirst()
        }
        outgoingStreams.fill(&writer, &packet, most: Self.packetBytesMax)
        return end(.reliable, &writer, packet, now)
    }

    private mutating func bulkPacket(_ now: Instant) -> Output? {
        var (writer, packet) = begin(.bulk)
        outgoingResources.fill(&writer, &packet, most: Self.packetBytesMax)
        return end(.bulk, &writer, packet, now)
    }

    /// A packet of frames that are not sent again.
    private mutating func packet(
        _ lane: TransferLane, _ extra: [TransferFrame], _ now: Instant
    ) -> Output {
        var (writer, packet) = begin(lane)
        for frame in extra { frame.emit(into: &writer) }
        packet.others = []
        return register(lane, &writer, packet, now)
    }

    private func begin(_ lane: TransferLane) -> (ByteWriter, SentPacket) {
        var writer = ByteWriter(reserving: Limits.messageBytesMax)
        let number = sent[Int(lane.rawValue)].nextNumber
        TransferPacket.emitHead(lane: lane, number: number, into: &writer)
        return (writer, SentPacket())
    }

    private mutating func end(
        _ lane: TransferLane, _ writer: inout ByteWriter, _ packet: SentPacket, _ now: Instant
    ) -> Output? {
        packet.isEmpty ? nil : register(lane, &writer, packet, now)
    }

    private mutating func register(
        _ lane: TransferLane, _ writer: inout ByteWriter, _ packet: SentPacket, _ now: Instant
    ) -> Output {
        writeAcknowledgements(&writer, most: Limits.messageBytesMax, now)
        var packet = packet
        packet.byteCount = writer.count
        packet.sentAt = now
        packet.flight = path.window.inFlight + writer.count
        if let evicted = sent[Int(lane.rawValue)].sent(packet) {
            path.left(evicted)
            sendAgain(evicted)
        }
        path.sent(packet.byteCount)
        return .send(writer.bytes, lane.priority)
    }

    /// Room is left for acknowledgements of a few ranges.
    private static let packetBytesMax = Limits.messageBytesMax - 2 * 32
}
