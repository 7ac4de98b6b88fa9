import NearbyCore

@testable import NearbyTransfers

extension FuzzTarget {
    static let transfers: [FuzzTarget] = [
        FuzzTarget("transfer-packet") { bytes in
            guard let packet = try? TransferPacket(parsing: bytes) else { return }
            let again = try? TransferPacket(parsing: packet.bytes)
            precondition(again == packet, "a packet is not what it was")
        },
        FuzzTarget("transfers") { bytes in
            var reader = ByteReader(bytes)
            var machine = BesetTransfers()
            while let step = try? reader.readUInt8(), let length = try? reader.readUInt8(),
                let body = try? reader.readBytes(min(Int(length), reader.remainingCount))
            {
                machine.take(step, Array(body))
            }
            machine.end()
        },
    ]
}

/// A machine with streams and resources, whose peer says what it likes: { step 1 | length 1 |
/// body }…
private struct BesetTransfers {
    private var machine = TransferMachine()
    private var now = Instant.zero + .seconds(1_000)
    private var number: UInt64 = 0
    /// Bytes of streams that came, and how far each resource was written.
    private var finished: Set<ResourceID> = []

    /// The step's lower bits say what happens, its upper ones to which stream or resource.
    mutating func take(_ step: UInt8, _ body: [UInt8]) {
        let which = UInt64(step >> 4)
        let own = StreamID(isOwn: true, number: which)
        switch step & 15 {
        case 0..<6: frames(body, isBulk: step & 1 == 1)
        case 6: handle(.received(body))
        case 7: handle(.openStream(name: "s", group: 1))
        case 8: handle(.write(own, [UInt8](repeating: step, count: 100 * body.count)))
        case 9: handle(body.isEmpty ? .finish(own) : .reset(own, .cancelled))
        case 10: handle(.offer(offer(body)))
        case 11: wait(milliseconds: Int64(body.first ?? 0) * 4)
        case 12: handle(.stop(StreamID(isOwn: false, number: which), .cancelled))
        case 13: handle(.cancel(ResourceID(isOwn: body.isEmpty, number: which), .cancelled))
        case 14: handle(.consumed(StreamID(isOwn: false, number: which), body.count))
        default: breaks(which)
        }
    }

    mutating func end() {
        wait(milliseconds: 2_000)
        handle(.abandoned)
        precondition(machine.nextDeadline == nil, "it has something to do without a peer")
    }

    private mutating func breaks(_ which: UInt64) {
        switch which % 4 {
        case 0: handle(.unreachable)
        case 1: handle(.restarted)
        case 2: handle(.pathChanged)
        default: break
        }
        handle(.reachable)
    }

    private func offer(_ body: [UInt8]) -> ResourceOffer {
        ResourceOffer(
            name: "f", group: 1, byteCount: Int64(body.count) << Int64((body.first ?? 0) & 15),
            key: [UInt8](repeating: 7, count: 16))
    }

    /// In a packet with the next number.
    private mutating func frames(_ body: [UInt8], isBulk: Bool) {
        var writer = ByteWriter()
        TransferPacket.emitHead(lane: isBulk ? .bulk : .reliable, number: number, into: &writer)
        writer.write(contentsOf: body)
        number += 1
        handle(.received(writer.bytes))
    }

    private mutating func wait(milliseconds: Int64) {
        let end = now + .milliseconds(milliseconds)
        var turns = 0
        while let next = machine.nextDeadline, next <= end, turns < 40 {
            now = max(now, next)
            handle(.deadlineReached)
            if let next = machine.nextDeadline { precondition(next > now, "it never sleeps") }
            turns += 1
        }
        now = max(now, end)
    }

    private mutating func handle(_ input: TransferInput) {
        var inputs = [input]
        while let input = inputs.popLast() {
            for output in machine.handle(input, now: now) { inputs += answers(to: output) }
            for (name, count, limit) in machine.tableSizes {
                precondition(count <= limit, "\(count) \(name) of \(limit)")
            }
        }
    }

    private mutating func answers(to output: TransferOutput) -> [TransferInput] {
        switch output {
        case .send(let bytes, _):
            precondition(bytes.count <= Limits.messageBytesMax, "a message of \(bytes.count) bytes")
            precondition((try? TransferPacket(parsing: bytes)) != nil, "nobody can read it")
        case .bytes(let id, let bytes): return [.consumed(id, bytes.count / 2)]
        case .offered(let id, let offer):
            return [.accept(id, from: offer.byteCount / 2)]
        case .read(let id, let offset, let count):
            let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: offset), count: count)
            return [.data(id, bytes, sha256: [UInt8](repeating: 1, count: 32))]
        case .write(let id, _, _): return [.written(id)]
        case .complete(let id, let hash): return [.verified(id, hash.first == 1)]
        case .interrupted(let id): return [.offerAgain(id, group: 2)]
        case .finished(let id, _):
            precondition(finished.insert(id).inserted, "it finishes twice")
        case .opened, .ended, .wasReset, .wrote, .room, .accepted, .drop: break
        }
        return []
    }
}
