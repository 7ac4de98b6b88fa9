import NearbyCore
import Testing

@testable import NearbyTransfers

/// A program over a machine: it takes everything, keeps nothing but sizes, and checks what comes.
struct TransferProgram {
    /// Bytes written to streams of ours.
    var written: [StreamID: Int] = [:]
    /// What is still to be written.
    var pouring: [StreamID: Int] = [:]
    /// Bytes that came.
    var taken: [StreamID: Int] = [:]
    var names: [StreamID: String] = [:]
    /// nil: it ended.
    var ends: [StreamID: TransferEnd?] = [:]
    /// These are taken but not used.
    var stalled: (StreamID) -> Bool = { _ in false }

    var offers: [ResourceID: ResourceOffer] = [:]
    var outcomes: [ResourceID: TransferOutcome] = [:]
    var accepted: [ResourceID: Int64] = [:]
    /// Bytes on disk by key: what a resource is resumed from.
    var disk: [[UInt8]: Int] = [:]
    var readCount = 0
    var interruptions = 0
    /// Refuses what it returns something for.
    var refusal: (ResourceOffer) -> TransferEnd? = { _ in nil }
    var hash: (ResourceOffer) -> [UInt8] = { $0.key + $0.key }

    mutating func restart() {
        let disk = disk
        self = TransferProgram()
        self.disk = disk
    }

    mutating func take(_ output: TransferOutput) -> [TransferInput] {
        switch output {
        case .opened(let id, let name, _):
            #expect(names[id] == nil && !id.isOwn)
            names[id] = name
        case .bytes(let id, let bytes):
            #expect(names[id] != nil && ends[id] == nil)
            let start = taken[id, default: 0]
            if !Content.matches(bytes, at: start) {
                Issue.record("other bytes in \(id) from \(start)")
            }
            taken[id] = start + bytes.count
            return stalled(id) ? [] : [.consumed(id, bytes.count)]
        case .ended(let id): end(id, nil)
        case .wasReset(let id, let reason): end(id, reason)
        case .offered, .accepted, .read, .write, .complete, .interrupted, .finished:
            return takeResource(output)
        case .send, .wrote, .room, .drop: break
        }
        return []
    }

    private mutating func end(_ id: StreamID, _ reason: TransferEnd?) {
        #expect(ends[id] == nil, "\(id) ends twice")
        ends[id] = .some(reason)
    }

    private mutating func takeResource(_ output: TransferOutput) -> [TransferInput] {
        switch output {
        case .offered(let id, let offer):
            offers[id] = offer
            if let reason = refusal(offer) { return [.cancel(id, reason)] }
            return [.accept(id, from: Int64(disk[offer.key] ?? 0))]
        case .accepted(let id, let offset): accepted[id] = offset
        case .read(let id, let offset, let count):
            guard let offer = offers[id] else { break }
            readCount += 1
            let isLast = offset + Int64(count) == offer.byteCount
            let bytes = Content.bytes(at: Int(offset), count)
            return [.data(id, bytes, sha256: isLast ? hash(offer) : nil)]
        case .write(let id, let offset, let bytes):
            guard let key = offers[id]?.key else { break }
            #expect(disk[key] ?? 0 == Int(offset), "a gap or a repetition on disk")
            if !Content.matches(bytes, at: Int(offset)) {
                Issue.record("other bytes in \(id) from \(offset)")
            }
            disk[key] = Int(offset) + bytes.count
            return [.written(id)]
        case .complete(let id, let sha256):
            guard let offer = offers[id] else { break }
            #expect(disk[offer.key] ?? 0 == Int(offer.byteCount))
            return [.verified(id, sha256 == offer.key + offer.key)]
        case .interrupted(let id):
            interruptions += 1
            return [.offerAgain(id, group: 4)]
        case .finished(let id, let outcome):
            #expect(outcomes[id] == nil, "\(id) finishes twice")
            outcomes[id] = outcome
        default: break
        }
        return []
    }
}
