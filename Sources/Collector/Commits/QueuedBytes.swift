import NearbyCore
import Telemetry

/// What waits for the store takes in memory, roughly: in all, and of each agent. Clock mappings
/// are nobody's.
struct QueuedBytes: Sendable {
    private(set) var total = 0
    private var shares: [PeerID: Int] = [:]

    subscript(peer: PeerID) -> Int { shares[peer] ?? 0 }

    mutating func add(_ count: Int, of peer: PeerID) {
        total += count
        shares[peer, default: 0] += count
    }

    init() {}

    init(_ batch: StoreBatch) {
        for born in batch.births { add(born.birth.memoryByteCount, of: born.peer) }
        for part in batch.parts { add(Self.part + Self.bytes(part.readings), of: part.key.peer) }
        for gap in batch.gaps { add(Self.gap, of: gap.peer) }
    }

    /// What each run with readings or gaps takes beside these.
    static let part = 192
    static let gap = MemoryLayout<StoreBatch.PeerGap>.stride

    static func bytes(_ readings: [Reading]) -> Int {
        readings.count * MemoryLayout<Reading>.stride
    }
}

extension Birth {
    /// In memory, roughly.
    var memoryByteCount: Int {
        let labels = node.labels.reduce(0) { $0 + 64 + $1.key.utf8.count + $1.value.utf8.count }
        return channels.reduce(256 + labels) {
            $0 + MemoryLayout<Channel>.stride + $1.name.utf8.count + $1.unit.name.utf8.count
        }
    }
}
