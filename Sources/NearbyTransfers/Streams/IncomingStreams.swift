import NearbyCore

/// The peer's streams.
struct IncomingStreams: Sendable {
    private enum Phase: Sendable {
        /// Bytes came before its `open`.
        case unnamed
        case open
        /// All was passed on; it stays until our program has used it.
        case ended
        /// Our program wants no more; its size is not known yet.
        case stopped
    }

    private struct Stream: Sendable {
        let number: UInt64
        var phase = Phase.unnamed
        var bytes = IncomingBytes()
        /// What our program used.
        var consumed: UInt64 = 0
        var window = UInt64(Limits.streamWindowBytes)
        /// What the peer was told, and when.
        var limit = UInt64(Limits.streamWindowBytes)
        var limitAt = Instant.zero

        var body: TransferFrame.Body { .init(.stream, number) }
    }

    /// By the numbers that our program knows.
    private var streams: [UInt64: Stream] = [:]
    /// What is added to a number on the wire: it grows when the peer begins anew.
    private var base: UInt64 = 0
    private var highest: UInt64 = 0
    private var numbers = NumberCredit(most: Limits.streamsMax)
    private var total = TotalCredit(window: Limits.streamsWindowBytes)

    var count: Int { streams.count }

    /// Bytes that came, or were passed on, and were not used.
    var heldByteCount: Int { total.heldCount }

    var pieceCount: Int { streams.values.reduce(0) { $0 + $1.bytes.pieceCount } }

    // MARK: The peer

    mutating func opened(_ number: UInt64, _ group: UInt16, _ name: String) -> TransferEffects {
        guard let own = place(number), streams[own]?.phase == .unnamed else {
            return dropped(number)
        }
        streams[own]?.phase = .open
        var effects = TransferEffects(outputs: [.opened(id(own), name: name, group: group)])
        pass(own, [], &effects)
        return effects
    }

    /// Bytes of a stream. Throws where the whole packet is to come again.
    mutating func received(
        _ bytes: ArraySlice<UInt8>, of number: UInt64, at offset: UInt64, isLast: Bool
    ) throws(IncomingBytes.Violation) -> TransferEffects {
        guard let own = place(number), let phase = streams[own]?.phase,
            let limit = streams[own]?.limit, let highest = streams[own]?.bytes.highest
        else { return dropped(number) }
        let end = offset + UInt64(bytes.count)
        let increase = max(end, highest) - highest
        guard end <= limit, total.admits(increase) else {
            return violated(own, .transferBeyondLimit)
        }
        var effects = TransferEffects()
        let ready: ArraySlice<UInt8>
        do throws(IncomingBytes.Violation) {
            ready =
                try streams[own]?.bytes.receive(
                    bytes, at: offset, isLast: isLast, isHeld: phase == .unnamed) ?? []
        } catch {
            if error == .pieces { throw error }
            return violated(own, .transferFinalSize)
        }
        total.receive(increase)
        if phase == .stopped {
            streams[own]?.bytes.discard()
            streams[own]?.consumed += increase
            total.release(increase)
            if isLast { close(own) }
        } else {
            pass(own, ready, &effects)
        }
        announce(&effects)
        return effects
    }

    mutating func wasReset(
        _ number: UInt64, _ reason: TransferEnd, finalSize: UInt64
    ) -> TransferEffects {
        guard let own = place(number), let stream = streams[own] else { return dropped(number) }
        // It crossed with the end, which came first.
        if stream.phase == .ended { return TransferEffects() }
        var effects = TransferEffects()
        do throws(IncomingBytes.Violation) {
            try stream.bytes.check(end: finalSize, isLast: true)
        } catch {
            effects.outputs.append(.drop(.transferFinalSize))
        }
        if stream.phase == .open { effects.outputs.append(.wasReset(id(own), reason)) }
        // The peer cannot have sent more than it may (RFC 9000 §4.5).
        if !settle(own, finalSize: finalSize) {
            effects.outputs.append(.drop(.transferBeyondLimit))
        }
        close(own)
        announce(&effects)
        return effects
    }

    /// Every one of the peer's is over, and the peer is told.
    mutating func stopAll(_ reason: TransferEnd) -> TransferEffects {
        var effects = TransferEffects()
        for own in streams.keys.sorted() {
            let isOpen = streams[own]?.phase == .open
            effects += stop(own, reason)
            if isOpen { effects.outputs.append(.wasReset(id(own), reason)) }
        }
        return effects
    }

    /// Every one of the peer's is over, and the peer knows of none.
    mutating func endAll(_ reason: TransferEnd) -> TransferEffects {
        let outputs = streams.keys.sorted().compactMap { own -> TransferOutput? in
            streams[own]?.phase == .open ? .wasReset(id(own), reason) : nil
        }
        let next = highest
        self = IncomingStreams()
        base = next
        highest = next
        return TransferEffects(outputs: outputs)
    }

    // MARK: The program

    mutating func consumed(
        _ own: UInt64, _ count: Int, roundTrip: Duration, now: Instant
    ) -> TransferEffects {
        guard let stream = streams[own], stream.phase == .open || stream.phase == .ended else {
            return TransferEffects()
        }
        let news = min(UInt64(max(0, count)), stream.bytes.base - stream.consumed)
        streams[own]?.consumed += news
        total.release(news)
        var effects = TransferEffects()
        if stream.phase == .ended {
            if stream.consumed + news == stream.bytes.base { close(own) }
        } else if stream.bytes.finalSize == nil {
            raiseLimit(own, roundTrip, now, &effects)
        }
        announce(&effects)
        return effects
    }

    /// No more of it is wanted, nor its name if that has not come.
    mutating func stop(_ own: UInt64, _ reason: TransferEnd) -> TransferEffects {
        guard let stream = streams[own], stream.phase != .stopped else {
            return TransferEffects()
        }
        var effects = TransferEffects()
        if stream.bytes.finalSize != nil {
            _ = settle(own, finalSize: stream.bytes.highest)
            close(own)
        } else {
            total.release(stream.bytes.highest - stream.consumed)
            streams[own]?.consumed = stream.bytes.highest
            streams[own]?.phase = .stopped
            streams[own]?.bytes.discard()
        }
        if stream.phase != .ended { effects.frames.append(.stop(stream.body, reason)) }
        announce(&effects)
        return effects
    }

    // MARK: Parts

    private func id(_ own: UInt64) -> StreamID { StreamID(isOwn: false, number: own) }

    /// The stream's own number if it is there, or may begin; then it does.
    private mutating func place(_ number: UInt64) -> UInt64? {
        let own = base + number
        switch numbers.standing(of: number) {
        case .open: return own
        case .new:
            numbers.began(number)
            streams[own] = Stream(number: number)
            highest = max(highest, own + 1)
            return own
        case .closed, .beyond: return nil
        }
    }

    private func dropped(_ number: UInt64) -> TransferEffects {
        switch numbers.standing(of: number) {
        case .beyond: TransferEffects(outputs: [.drop(.transferTableFull)])
        case .closed, .open, .new: TransferEffects(outputs: [.drop(.transferUnexpected)])
        }
    }

    private mutating func pass(
        _ own: UInt64, _ ready: ArraySlice<UInt8>, _ effects: inout TransferEffects
    ) {
        guard streams[own]?.phase == .open else { return }
        if !ready.isEmpty { effects.outputs.append(.bytes(id(own), Array(ready))) }
        if streams[own]?.bytes.pieceCount ?? 0 > 0 {
            while let more = streams[own]?.bytes.takeReady() {
                effects.outputs.append(.bytes(id(own), Array(more)))
            }
        }
        guard let stream = streams[own], stream.bytes.isComplete else { return }
        effects.outputs.append(.ended(id(own)))
        streams[own]?.phase = .ended
        if stream.consumed == stream.bytes.base { close(own) }
    }

    /// The peer does not keep to the rules: it is told, and our program too.
    private mutating func violated(_ own: UInt64, _ reason: DropReason) -> TransferEffects {
        var effects = TransferEffects(outputs: [.drop(reason)])
        guard let stream = streams[own], stream.phase != .stopped else { return effects }
        if stream.phase == .open {
            effects.outputs.append(.wasReset(id(own), .violation))
        }
        if stream.phase != .ended {
            effects.frames.append(.stop(stream.body, .violation))
        }
        _ = settle(own, finalSize: stream.bytes.highest)
        close(own)
        announce(&effects)
        return effects
    }

    /// All of it is done with, up to its end.
    ///
    /// - Returns: false if the peer says that it sent more than it may: only that counts.
    private mutating func settle(_ own: UInt64, finalSize: UInt64) -> Bool {
        guard let stream = streams[own] else { return true }
        let highest = stream.bytes.highest
        let said = max(highest, finalSize)
        let size = highest + total.admitted(of: max(highest, min(said, stream.limit)) - highest)
        total.receive(size - highest)
        total.release(size - stream.consumed)
        streams[own]?.bytes.end(at: size)
        return size == said
    }

    private mutating func close(_ own: UInt64) {
        streams[own] = nil
        numbers.ended(own - base)
    }

    /// A quarter of the window is worth telling; what is used up within two round trips doubles.
    private mutating func raiseLimit(
        _ own: UInt64, _ roundTrip: Duration, _ now: Instant, _ effects: inout TransferEffects
    ) {
        guard let stream = streams[own],
            stream.consumed + stream.window >= stream.limit + stream.window / 4
        else { return }
        var window = stream.window
        if now - stream.limitAt < roundTrip * 2 {
            window = min(window * 2, UInt64(Limits.streamWindowBytesMax))
        }
        streams[own]?.window = window
        streams[own]?.limit = stream.consumed + window
        streams[own]?.limitAt = now
        effects.frames.append(.limit(stream.body, stream.consumed + window))
    }

    private mutating func announce(_ effects: inout TransferEffects) {
        if let limit = total.takeAnnouncement() {
            effects.frames.append(.limitOfAll(.stream, limit))
        }
        if let limit = numbers.takeAnnouncement() {
            effects.frames.append(.limitOfNumbers(.stream, limit))
        }
    }
}
