import NearbyCore

/// The peer's resources.
struct IncomingResources: Sendable {
    private enum Phase: Sendable {
        /// Our program has not answered.
        case offered
        case receiving
        /// Our program compares the hash.
        case verifying
        /// We want no more; the peer has not said how much it was.
        case stopped
    }

    private struct Resource: Sendable {
        let number: UInt64
        let offer: ResourceOffer
        var phase = Phase.offered
        var bytes = IncomingBytes()
        /// In sequence, until there is enough for a write.
        var gathered: [UInt8] = []
        /// The counts of those that are not answered.
        var writes = Deque<Int>()
        /// All below is written.
        var written: UInt64 = 0
        var limit: UInt64 = 0
        var digest: [UInt8]?

        var size: UInt64 { UInt64(offer.byteCount) }
        var body: TransferFrame.Body { .init(.resource, number) }
        var isWritten: Bool { bytes.isComplete && written == size && writes.isEmpty }

        /// Takes bytes of the peer's, and puts them in sequence.
        mutating func receive(
            _ new: ArraySlice<UInt8>, at offset: UInt64, isLast: Bool, _ total: inout TotalCredit
        ) throws(IncomingBytes.Violation) -> Receipt {
            guard phase != .offered else { return .unexpected }
            let end = offset + UInt64(new.count)
            guard end <= size, !isLast || end == size else { return .sizeMismatch }
            let increase = max(end, bytes.highest) - bytes.highest
            guard end <= limit, total.admits(increase) else { return .beyondLimit }
            let ready: ArraySlice<UInt8>
            do throws(IncomingBytes.Violation) {
                ready = try bytes.receive(new, at: offset, isLast: isLast)
            } catch {
                if error == .pieces { throw error }
                return .sizeMismatch
            }
            total.receive(increase)
            guard phase != .stopped else {
                bytes.discard()
                written += increase
                total.release(increase)
                return .stopped
            }
            gather(ready)
            let isEnough = gathered.count >= Limits.resourcePieceBytes || bytes.isComplete
            return isEnough ? .many : .few
        }

        private mutating func gather(_ ready: ArraySlice<UInt8>) {
            if gathered.isEmpty {
                gathered.reserveCapacity(Limits.resourcePieceBytes + Limits.messageBytesMax)
            }
            gathered += ready
            guard bytes.pieceCount > 0 else { return }
            while let more = bytes.takeReady() { gathered += more }
        }
    }

    /// What became of bytes of the peer's.
    private enum Receipt {
        case unexpected, sizeMismatch, beyondLimit, stopped
        /// More are awaited before they are written.
        case few
        case many
    }

    /// Changed in their places: a copy would be of what they have gathered, too.
    private var resources: [UInt64: Resource] = [:]
    private var base: UInt64 = 0
    private var highest: UInt64 = 0
    private var numbers = NumberCredit(most: Limits.resourcesMax)
    private var total = TotalCredit(window: Limits.resourcesWindowBytes)

    var count: Int { resources.count }

    var heldByteCount: Int { total.heldCount }

    /// Bytes that are written.
    func progress(of own: UInt64) -> (completed: Int64, total: Int64)? {
        resources[own].map { (Int64($0.written), $0.offer.byteCount) }
    }

    // MARK: The peer

    mutating func offered(_ number: UInt64, _ offer: ResourceOffer) -> TransferEffects {
        switch numbers.standing(of: number) {
        case .open, .closed: return TransferEffects(outputs: [.drop(.transferUnexpected)])
        case .beyond: return TransferEffects(outputs: [.drop(.transferTableFull)])
        case .new: break
        }
        numbers.began(number)
        let own = base + number
        resources[own] = Resource(number: number, offer: offer)
        highest = max(highest, own + 1)
        return TransferEffects(outputs: [.offered(id(own), offer)])
    }

    mutating func received(
        _ bytes: ArraySlice<UInt8>, of number: UInt64, at offset: UInt64, isLast: Bool
    ) throws(IncomingBytes.Violation) -> TransferEffects {
        let own = base + number
        guard let index = resources.index(forKey: own) else {
            return TransferEffects(outputs: [.drop(.transferUnexpected)])
        }
        var effects = TransferEffects()
        switch try resources.values[index].receive(bytes, at: offset, isLast: isLast, &total) {
        case .unexpected: effects.outputs.append(.drop(.transferUnexpected))
        case .sizeMismatch: return violated(own, .sizeMismatch, .transferFinalSize)
        case .beyondLimit: return violated(own, .violation, .transferBeyondLimit)
        case .stopped: if isLast { close(own, &effects) }
        case .few:
            // With many at once, all the peer's credit could lie here, too little of each to be
            // written.
            if total.isShort { effects += flushAll() }
        case .many:
            flush(own, &effects)
            complete(own, &effects)
        }
        return effects
    }

    mutating func digest(_ number: UInt64, _ hash: [UInt8]) -> TransferEffects {
        let own = base + number
        guard let resource = resources[own], resource.phase == .receiving,
            resource.digest == nil
        else { return TransferEffects(outputs: [.drop(.transferUnexpected)]) }
        resources[own]?.digest = hash
        var effects = TransferEffects()
        complete(own, &effects)
        return effects
    }

    mutating func wasReset(
        _ number: UInt64, _ reason: TransferEnd, finalSize: UInt64
    ) -> TransferEffects {
        if numbers.standing(of: number) == .new {
            // It came before the offer, which is not wanted then.
            numbers.began(number)
            numbers.ended(number)
            return TransferEffects()
        }
        let own = base + number
        guard let resource = resources[own] else {
            return TransferEffects(outputs: [.drop(.transferUnexpected)])
        }
        var effects = TransferEffects()
        flush(own, &effects)
        if resource.phase != .stopped {
            effects.outputs.append(.finished(id(own), .failure(reason)))
        }
        // The peer cannot have sent more than it may (RFC 9000 §4.5).
        if !settle(own, finalSize: finalSize) {
            effects.outputs.append(.drop(.transferBeyondLimit))
        }
        close(own, &effects)
        return effects
    }

    /// Every one of the peer's is over, and the peer is told.
    mutating func stopAll(_ reason: TransferEnd) -> TransferEffects {
        var effects = TransferEffects()
        for own in resources.keys.sorted() where resources[own]?.phase != .stopped {
            flush(own, &effects)
            effects += failed(own, reason)
        }
        return effects
    }

    /// Every one of the peer's is over, and the peer knows of none.
    mutating func endAll(_ reason: TransferEnd) -> TransferEffects {
        var effects = TransferEffects()
        for own in resources.keys.sorted() where resources[own]?.phase != .stopped {
            flush(own, &effects)
            effects.outputs.append(.finished(id(own), .failure(reason)))
        }
        let next = highest
        self = IncomingResources()
        base = next
        highest = next
        return effects
    }

    /// What is gathered is written before a break, which may last.
    mutating func flushAll() -> TransferEffects {
        var effects = TransferEffects()
        for own in resources.keys.sorted() { flush(own, &effects) }
        return effects
    }

    // MARK: The program

    mutating func accept(_ own: UInt64, from offset: Int64) -> TransferEffects {
        guard let resource = resources[own], resource.phase == .offered,
            (0...resource.offer.byteCount).contains(offset)
        else { return TransferEffects(outputs: [.drop(.transferUnexpected)]) }
        let start = UInt64(offset)
        let limit = start + UInt64(Limits.resourceWindowBytes)
        resources[own]?.phase = .receiving
        resources[own]?.bytes = IncomingBytes(from: start)
        resources[own]?.written = start
        resources[own]?.limit = limit
        return TransferEffects(frames: [
            .accept(number: resource.number, offset: start, limit: limit)
        ])
    }

    mutating func stop(_ own: UInt64, _ reason: TransferEnd) -> TransferEffects {
        guard let resource = resources[own], resource.phase != .stopped else {
            return TransferEffects()
        }
        resources[own]?.phase = .stopped
        resources[own]?.gathered = []
        resources[own]?.writes.removeAll()
        resources[own]?.bytes.discard()
        total.release(resource.bytes.highest - resource.written)
        resources[own]?.written = resource.bytes.highest
        var effects = TransferEffects(frames: [.stop(resource.body, reason)])
        if resource.bytes.finalSize != nil { close(own, &effects) }
        announce(&effects)
        return effects
    }

    mutating func failed(_ own: UInt64, _ reason: TransferEnd) -> TransferEffects {
        guard let resource = resources[own], resource.phase != .stopped else {
            return TransferEffects()
        }
        var effects = stop(own, reason)
        effects.outputs.append(.finished(id(own), .failure(reason)))
        return effects
    }

    mutating func written(_ own: UInt64) -> TransferEffects {
        guard let resource = resources[own], resource.phase == .receiving,
            let count = resources[own]?.writes.popFirst()
        else { return TransferEffects() }
        resources[own]?.written += UInt64(count)
        total.release(UInt64(count))
        var effects = TransferEffects()
        let limit = resource.written + UInt64(count + Limits.resourceWindowBytes)
        if limit >= resource.limit + UInt64(Limits.resourceWindowBytes / 4),
            resource.limit < resource.size
        {
            resources[own]?.limit = limit
            effects.frames.append(.limit(resource.body, limit))
        }
        announce(&effects)
        complete(own, &effects)
        return effects
    }

    mutating func verified(_ own: UInt64, _ isGood: Bool) -> TransferEffects {
        guard let resource = resources[own], resource.phase == .verifying else {
            return TransferEffects(outputs: [.drop(.transferUnexpected)])
        }
        guard isGood else { return failed(own, .digestMismatch) }
        var effects = TransferEffects(
            outputs: [.finished(id(own), .success)],
            frames: [.verified(number: resource.number)])
        close(own, &effects)
        return effects
    }

    // MARK: Parts

    private func id(_ own: UInt64) -> ResourceID { ResourceID(isOwn: false, number: own) }

    private mutating func flush(_ own: UInt64, _ effects: inout TransferEffects) {
        guard let resource = resources[own], !resource.gathered.isEmpty else { return }
        let start = resource.bytes.base - UInt64(resource.gathered.count)
        effects.outputs.append(.write(id(own), offset: Int64(start), resource.gathered))
        resources[own]?.writes.append(resource.gathered.count)
        resources[own]?.gathered = []
    }

    private mutating func complete(_ own: UInt64, _ effects: inout TransferEffects) {
        guard let resource = resources[own], resource.phase == .receiving, resource.isWritten,
            let digest = resource.digest
        else { return }
        resources[own]?.phase = .verifying
        effects.outputs.append(.complete(id(own), sha256: digest))
    }

    /// The peer does not keep to the rules: it is told, and our program too.
    private mutating func violated(
        _ own: UInt64, _ reason: TransferEnd, _ drop: DropReason
    ) -> TransferEffects {
        var effects = failed(own, reason)
        effects.outputs.insert(.drop(drop), at: 0)
        return effects
    }

    /// All of it is done with, up to its end.
    ///
    /// - Returns: false if the peer says that it sent more than it may: only that counts.
    private mutating func settle(_ own: UInt64, finalSize: UInt64) -> Bool {
        guard let resource = resources[own] else { return true }
        let highest = resource.bytes.highest
        let said = max(highest, finalSize)
        let allowed = min(said, resource.limit, resource.size)
        let size = highest + total.admitted(of: max(highest, allowed) - highest)
        total.receive(size - highest)
        total.release(size - min(size, resource.written))
        resources[own]?.bytes.end(at: size)
        return size == said
    }

    private mutating func close(_ own: UInt64, _ effects: inout TransferEffects) {
        guard let resource = resources.removeValue(forKey: own) else { return }
        numbers.ended(resource.number)
        announce(&effects)
    }

    private mutating func announce(_ effects: inout TransferEffects) {
        if let limit = total.takeAnnouncement() {
            effects.frames.append(.limitOfAll(.resource, limit))
        }
        if let limit = numbers.takeAnnouncement() {
            effects.frames.append(.limitOfNumbers(.resource, limit))
        }
    }
}
