import NearbyCore

/// Our own resources on their way to one peer.
struct OutgoingResources: Sendable {
    private enum Phase: Sendable {
        /// The peer has begun anew.
        case interrupted
        /// The peer allows no more yet.
        case waiting
        case offered
        case sending
    }

    private struct Resource: Sendable {
        var offer: ResourceOffer
        var phase = Phase.waiting
        var number: UInt64?
        var bytes = OutgoingBytes(limit: 0)
        /// Up to here reads were asked for.
        var readEnd: UInt64 = 0
        /// Not answered so far; of these, the ones whose answers are of no use any more.
        var readCount = 0
        var staleCount = 0
        var isReady = false

        var size: UInt64 { UInt64(offer.byteCount) }

        /// - Returns: whether it waits for its turn, and did not before.
        mutating func becomeReady() -> Bool {
            guard !isReady, phase == .sending, bytes.isWaiting else { return false }
            isReady = true
            return true
        }

        /// The same, if so many new bytes are allowed by all limits but its own.
        mutating func becomeReady(allowance: UInt64) -> Bool {
            bytes.isReady(allowance: allowance) && becomeReady()
        }

        /// Asks for what fits beside what is held.
        mutating func readMore(_ own: UInt64, _ effects: inout TransferEffects) {
            guard phase == .sending else { return }
            let most = bytes.start + UInt64(Limits.resourceWindowBytes)
            while readEnd < size {
                let count = min(size - readEnd, UInt64(Limits.resourcePieceBytes))
                guard readEnd + count <= most else { return }
                let id = ResourceID(isOwn: true, number: own)
                effects.outputs.append(.read(id, offset: Int64(readEnd), count: Int(count)))
                readEnd += count
                readCount += 1
            }
        }

        /// Its turn has come: the next piece into a packet of at most so many bytes.
        ///
        /// - Returns: the piece, and how many bytes of it were never sent; nil: there is none.
        mutating func write(
            _ own: UInt64, into writer: inout ByteWriter, most: Int, allowance: UInt64
        ) -> (data: SentData, newCount: UInt64)? {
            isReady = false
            guard let body = number.map({ TransferFrame.Body(.resource, $0) }) else { return nil }
            let before = bytes.next
            let space = most - writer.count - TransferFrame.dataOverhead(body, offset: before)
            guard let piece = bytes.take(most: space, allowance: allowance) else { return nil }
            TransferFrame.emitDataHead(
                body, offset: piece.range.lowerBound, count: piece.range.count,
                isLast: piece.isLast, into: &writer)
            bytes.write(piece.range, into: &writer)
            let data = SentData(
                kind: .resource, number: own, range: piece.range, isLast: piece.isLast)
            return (data, bytes.next - before)
        }
    }

    /// Looked up once for each packet and changed in their places: moved out and back, they would
    /// cost more than their packets.
    private var resources: [UInt64: Resource] = [:]
    private(set) var next: UInt64 = 0
    private var numbers = NumberSupply(limit: Limits.resourcesMax)
    private var ready = Deque<UInt64>()
    private var sentTotal: UInt64 = 0
    private var limitOfAll = UInt64(Limits.resourcesWindowBytes)

    var count: Int { resources.count }

    var hasReady: Bool { !ready.isEmpty }

    /// Bytes read and not known to have arrived.
    var heldByteCount: Int { resources.values.reduce(0) { $0 + $1.bytes.byteCount } }

    /// Bytes that the peer is known to have.
    func progress(of own: UInt64) -> (completed: Int64, total: Int64)? {
        resources[own].map { (Int64($0.bytes.start), $0.offer.byteCount) }
    }

    var mayOffer: Bool {
        resources.count < Limits.resourcesMax && numbers.waitingCount < Limits.resourcesMax
    }

    // MARK: The program

    mutating func offer(_ offer: ResourceOffer) -> TransferEffects {
        defer { next += 1 }
        guard offer.isLegal, mayOffer else {
            let reason: TransferEnd = offer.isLegal ? .full : .violation
            let id = ResourceID(isOwn: true, number: next)
            return TransferEffects(outputs: [.finished(id, .failure(reason))])
        }
        resources[next] = Resource(offer: offer)
        numbers.wait(next)
        return TransferEffects(frames: admitWaiting())
    }

    mutating func offerAgain(_ own: UInt64, _ group: UInt16) -> TransferEffects {
        guard resources[own]?.phase == .interrupted else { return TransferEffects() }
        resources[own]?.phase = .waiting
        resources[own]?.offer.group = group
        numbers.wait(own)
        return TransferEffects(frames: admitWaiting())
    }

    mutating func cancel(_ own: UInt64, _ reason: TransferEnd) -> TransferEffects {
        guard let resource = resources.removeValue(forKey: own), let number = resource.number
        else { return TransferEffects() }
        numbers.release(number)
        let size = resource.bytes.next
        return TransferEffects(frames: [
            .reset(.init(.resource, number), reason, finalSize: size)
        ])
    }

    mutating func data(
        _ own: UInt64, _ bytes: [UInt8], sha256: [UInt8]?
    ) -> TransferEffects {
        guard takeRead(own), let resource = resources[own], let number = resource.number else {
            return TransferEffects()
        }
        let rest = resource.size - resource.bytes.end
        guard UInt64(bytes.count) == min(rest, UInt64(Limits.resourcePieceBytes)) else {
            return failed(own, .readFailed)
        }
        var effects = TransferEffects()
        resources[own]?.bytes.append(bytes)
        if UInt64(bytes.count) == rest {
            guard let sha256, sha256.count == Limits.sha256ByteCount else {
                return failed(own, .readFailed)
            }
            resources[own]?.bytes.finish()
            effects.frames.append(.digest(number: number, sha256))
        }
        makeReady(own)
        resources[own]?.readMore(own, &effects)
        return effects
    }

    mutating func readFailed(_ own: UInt64) -> TransferEffects {
        takeRead(own) ? failed(own, .readFailed) : TransferEffects()
    }

    /// The oldest read is answered.
    ///
    /// - Returns: whether the answer is of use.
    private mutating func takeRead(_ own: UInt64) -> Bool {
        guard let resource = resources[own], resource.readCount > 0 else { return false }
        resources[own]?.readCount -= 1
        guard resource.staleCount > 0 else { return true }
        resources[own]?.staleCount -= 1
        return false
    }

    /// Ends it on both sides.
    mutating func failed(_ own: UInt64, _ reason: TransferEnd) -> TransferEffects {
        guard resources[own] != nil else { return TransferEffects() }
        var effects = cancel(own, reason)
        let id = ResourceID(isOwn: true, number: own)
        effects.outputs.append(.finished(id, .failure(reason)))
        return effects
    }

    // MARK: The peer

    mutating func accepted(
        _ number: UInt64, from offset: UInt64, limit: UInt64
    ) -> TransferEffects {
        guard let own = numbers.owner(of: number), let resource = resources[own],
            resource.phase == .offered
        else { return TransferEffects(outputs: [.drop(.transferUnexpected)]) }
        guard offset <= resource.size else { return failed(own, .sizeMismatch) }
        resources[own]?.phase = .sending
        resources[own]?.bytes = OutgoingBytes(from: offset, limit: limit)
        resources[own]?.readEnd = offset
        let id = ResourceID(isOwn: true, number: own)
        var effects = TransferEffects(outputs: [.accepted(id, from: Int64(offset))])
        if offset == resource.size {
            // Nothing is to be read but the hash.
            resources[own]?.readCount += 1
            effects.outputs.append(.read(id, offset: Int64(offset), count: 0))
        } else {
            resources[own]?.readMore(own, &effects)
        }
        return effects
    }

    mutating func stopped(_ number: UInt64, _ reason: TransferEnd) -> TransferEffects {
        numbers.owner(of: number).map { failed($0, reason) } ?? TransferEffects()
    }

    mutating func verified(_ number: UInt64) -> TransferEffects {
        guard let own = numbers.owner(of: number), let resource = resources[own] else {
            return TransferEffects(outputs: [.drop(.transferUnexpected)])
        }
        // Nobody can have verified what was not sent.
        guard resource.phase == .sending, resource.bytes.isSent else {
            return failed(own, .violation)
        }
        resources[own] = nil
        numbers.release(number)
        let id = ResourceID(isOwn: true, number: own)
        return TransferEffects(outputs: [.finished(id, .success)])
    }

    mutating func raise(_ number: UInt64, limit: UInt64) {
        guard let own = numbers.owner(of: number) else { return }
        resources[own]?.bytes.raise(limit: limit)
        makeReady(own)
    }

    mutating func raise(limitOfAll limit: UInt64) {
        guard limit > limitOfAll else { return }
        limitOfAll = limit
        for own in resources.keys.sorted() { makeReady(own) }
    }

    mutating func raise(limitOfNumbers limit: UInt64) -> TransferEffects {
        numbers.raise(limit: limit)
        return TransferEffects(frames: admitWaiting())
    }

    private mutating func admitWaiting() -> [TransferFrame] {
        var frames: [TransferFrame] = []
        while let (own, number) = numbers.takeNext(where: { resources[$0] != nil }) {
            guard let resource = resources[own] else { break }
            resources[own]?.number = number
            resources[own]?.phase = .offered
            frames.append(.offer(number: number, resource.offer))
        }
        return frames
    }

    mutating func arrived(_ data: SentData) -> TransferEffects {
        var effects = TransferEffects()
        guard let index = resources.index(forKey: data.number) else { return effects }
        resources.values[index].bytes.arrived(data.range, isLast: data.isLast)
        resources.values[index].readMore(data.number, &effects)
        return effects
    }

    mutating func lost(_ data: SentData) {
        resources[data.number]?.bytes.lost(data.range, isLast: data.isLast)
        makeReady(data.number)
    }

    /// Another run of the peer: all of ours wait to be offered to it.
    mutating func interruptAll() -> TransferEffects {
        var effects = TransferEffects()
        for own in resources.keys.sorted() {
            guard var resource = resources[own] else { continue }
            resource.phase = .interrupted
            resource.number = nil
            resource.bytes = OutgoingBytes(limit: 0)
            resource.staleCount = resource.readCount
            resource.isReady = false
            resources[own] = resource
            effects.outputs.append(.interrupted(ResourceID(isOwn: true, number: own)))
        }
        numbers = NumberSupply(limit: Limits.resourcesMax)
        ready.removeAll()
        sentTotal = 0
        limitOfAll = UInt64(Limits.resourcesWindowBytes)
        return effects
    }

    /// Every one of ours is over, and the peer is told.
    mutating func cancelAll(_ reason: TransferEnd) -> TransferEffects {
        var effects = TransferEffects()
        for own in resources.keys.sorted() { effects += failed(own, reason) }
        numbers.forgetWaiting()
        ready.removeAll()
        return effects
    }

    /// Every one of ours is over, and the peer knows of none.
    mutating func endAll(_ reason: TransferEnd) -> TransferEffects {
        let ids = resources.keys.sorted().map { ResourceID(isOwn: true, number: $0) }
        let known = next
        self = OutgoingResources()
        next = known
        return TransferEffects(outputs: ids.map { .finished($0, .failure(reason)) })
    }

    // MARK: Packets

    private mutating func makeReady(_ own: UInt64) {
        guard let index = resources.index(forKey: own), resources.values[index].becomeReady()
        else { return }
        ready.append(own)
    }

    /// Fills a packet up to `most` bytes with the resource whose turn it is.
    mutating func fill(_ writer: inout ByteWriter, _ packet: inout SentPacket, most: Int) {
        var turns = ready.count
        while turns > 0, packet.isEmpty, let own = ready.popFirst() {
            turns -= 1
            let allowance = limitOfAll - min(limitOfAll, sentTotal)
            guard let index = resources.index(forKey: own),
                let (data, newCount) = resources.values[index].write(
                    own, into: &writer, most: most, allowance: allowance)
            else { continue }
            sentTotal += newCount
            packet.add(data)
            if resources.values[index].becomeReady(allowance: allowance - newCount) {
                ready.append(own)
            }
        }
    }
}
