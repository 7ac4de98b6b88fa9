import NearbyCore

/// Our own streams with one peer.
struct OutgoingStreams: Sendable {
    private struct Stream: Sendable {
        let name: String
        let group: UInt16
        /// On the wire; nil: the peer allows no more yet.
        var number: UInt64?
        var bytes = OutgoingBytes(limit: UInt64(Limits.streamWindowBytes))
        /// It has its turn in `ready`.
        var isReady = false
        /// A write did not fit.
        var wantsRoom = false

        var room: Int {
            bytes.isFinished ? 0 : max(0, Limits.streamSendBytesMax - bytes.byteCount)
        }
    }

    private var streams: [UInt64: Stream] = [:]
    /// The number of the next one, as our program knows it.
    private(set) var next: UInt64 = 0
    private var numbers = NumberSupply(limit: Limits.streamsMax)
    /// Those that may have something to send, in turn. Some may be gone, or held up by a limit.
    private var ready = Deque<UInt64>()
    /// Bytes sent for the first time, of all that the peer knows of.
    private var sentTotal: UInt64 = 0
    private var limitOfAll = UInt64(Limits.streamsWindowBytes)

    var count: Int { streams.count }

    var mayOpen: Bool {
        streams.count < Limits.streamsMax && numbers.waitingCount < Limits.streamsMax
    }

    var hasReady: Bool { !ready.isEmpty }

    /// What may be written now, bytes; nil: there is no such stream.
    func room(of own: UInt64) -> Int? { streams[own]?.room }

    // MARK: The program

    mutating func open(_ name: String, _ group: UInt16) -> TransferEffects {
        defer { next += 1 }
        let id = StreamID(isOwn: true, number: next)
        let isLegal = name.utf8.count <= Limits.transferNameBytesMax
        guard isLegal, mayOpen else {
            let reason: TransferEnd = isLegal ? .full : .violation
            return TransferEffects(outputs: [.wasReset(id, reason)])
        }
        streams[next] = Stream(name: name, group: group)
        numbers.wait(next)
        return TransferEffects(frames: admitWaiting())
    }

    mutating func write(_ bytes: [UInt8], to own: UInt64) -> TransferEffects {
        guard let room = streams[own]?.room else { return TransferEffects() }
        let taken = min(room, bytes.count)
        streams[own]?.bytes.append(taken == bytes.count ? bytes : Array(bytes[..<taken]))
        makeReady(own)
        guard taken < bytes.count else { return TransferEffects() }
        streams[own]?.wantsRoom = true
        return TransferEffects(outputs: [.wrote(StreamID(isOwn: true, number: own), taken)])
    }

    mutating func finish(_ own: UInt64) {
        streams[own]?.bytes.finish()
        makeReady(own)
    }

    /// Our program wants so.
    mutating func reset(_ own: UInt64, _ reason: TransferEnd) -> TransferEffects {
        guard let stream = streams.removeValue(forKey: own) else { return TransferEffects() }
        // Without a number the peer has not heard of it.
        guard let number = stream.number else { return TransferEffects() }
        numbers.release(number)
        return TransferEffects(frames: [
            .reset(.init(.stream, number), reason, finalSize: stream.bytes.next)
        ])
    }

    // MARK: The peer

    mutating func stopped(_ number: UInt64, _ reason: TransferEnd) -> TransferEffects {
        guard let own = numbers.owner(of: number) else { return TransferEffects() }
        var effects = reset(own, reason)
        effects.outputs.append(.wasReset(StreamID(isOwn: true, number: own), reason))
        return effects
    }

    mutating func raise(_ number: UInt64, limit: UInt64) {
        guard let own = numbers.owner(of: number) else { return }
        streams[own]?.bytes.raise(limit: limit)
        makeReady(own)
    }

    mutating func raise(limitOfAll limit: UInt64) {
        guard limit > limitOfAll else { return }
        limitOfAll = limit
        for own in streams.keys.sorted() { makeReady(own) }
    }

    mutating func raise(limitOfNumbers limit: UInt64) -> TransferEffects {
        numbers.raise(limit: limit)
        return TransferEffects(frames: admitWaiting())
    }

    private mutating func admitWaiting() -> [TransferFrame] {
        var frames: [TransferFrame] = []
        while let (own, number) = numbers.takeNext(where: { streams[$0] != nil }) {
            guard let stream = streams[own] else { break }
            streams[own]?.number = number
            frames.append(.open(number: number, group: stream.group, name: stream.name))
            makeReady(own)
        }
        return frames
    }

    mutating func arrived(_ data: SentData) -> TransferEffects {
        let own = data.number
        guard streams[own] != nil else { return TransferEffects() }
        streams[own]?.bytes.arrived(data.range, isLast: data.isLast)
        guard let stream = streams[own] else { return TransferEffects() }
        let id = StreamID(isOwn: true, number: own)
        if stream.bytes.isComplete {
            streams[own] = nil
            if let number = stream.number { numbers.release(number) }
            return TransferEffects(outputs: [.ended(id)])
        }
        guard stream.wantsRoom, stream.room >= Limits.streamSendBytesMax / 2 else {
            return TransferEffects()
        }
        streams[own]?.wantsRoom = false
        return TransferEffects(outputs: [.room(id)])
    }

    mutating func lost(_ data: SentData) {
        streams[data.number]?.bytes.lost(data.range, isLast: data.isLast)
        makeReady(data.number)
    }

    /// Every one of ours is over, and the peer is told.
    mutating func resetAll(_ reason: TransferEnd) -> TransferEffects {
        var effects = TransferEffects()
        for own in streams.keys.sorted() {
            effects += reset(own, reason)
            effects.outputs.append(.wasReset(StreamID(isOwn: true, number: own), reason))
        }
        numbers.forgetWaiting()
        ready.removeAll()
        return effects
    }

    /// Every one of ours is over, and the peer knows of none.
    mutating func endAll(_ reason: TransferEnd) -> TransferEffects {
        let ids = streams.keys.sorted().map { StreamID(isOwn: true, number: $0) }
        let known = next
        self = OutgoingStreams()
        next = known
        return TransferEffects(outputs: ids.map { .wasReset($0, reason) })
    }

    // MARK: Packets

    private mutating func makeReady(_ own: UInt64) {
        guard let stream = streams[own], !stream.isReady, stream.number != nil,
            stream.bytes.isWaiting
        else { return }
        streams[own]?.isReady = true
        ready.append(own)
    }

    /// Fills a packet up to `most` bytes, each stream in its turn.
    mutating func fill(_ writer: inout ByteWriter, _ packet: inout SentPacket, most: Int) {
        var turns = ready.count
        while turns > 0, most - writer.count > Self.worthwhileBytes, let own = ready.popFirst() {
            turns -= 1
            streams[own]?.isReady = false
            guard let body = streams[own]?.number.map({ TransferFrame.Body(.stream, $0) }),
                let before = streams[own]?.bytes.next
            else { continue }
            let space = most - writer.count - TransferFrame.dataOverhead(body, offset: before)
            let allowance = limitOfAll - min(limitOfAll, sentTotal)
            guard let piece = streams[own]?.bytes.take(most: space, allowance: allowance) else {
                continue
            }
            sentTotal += (streams[own]?.bytes.next ?? before) - before
            TransferFrame.emitDataHead(
                body, offset: piece.range.lowerBound, count: piece.range.count,
                isLast: piece.isLast, into: &writer)
            streams[own]?.bytes.write(piece.range, into: &writer)
            packet.add(
                SentData(kind: .stream, number: own, range: piece.range, isLast: piece.isLast))
            let left = limitOfAll - min(limitOfAll, sentTotal)
            if streams[own]?.bytes.isReady(allowance: left) == true { makeReady(own) }
        }
    }

    /// Less room than that is left empty.
    private static let worthwhileBytes = 32
}
