import Fleet
import NearbyCore

extension Limits {
    /// Values of a channel that are kept for its line.
    static let topValuesMax = 240
    /// Channels of which values are kept.
    static let topHistoriesMax = 65_536
}

/// What was seen of each channel since we look: a value for each new reading.
struct TopHistory: Sendable {
    struct Key: Hashable, Sendable {
        var peer: PeerID
        var channel: String
    }

    private struct Line {
        var values: [Double?] = []
        var utc: Int64
    }

    private var lines: [Key: Line] = [:]
    /// By reason, of the last snapshot and the one before.
    private var drops: [String: UInt64] = [:]
    private(set) var dropGrowth: [String: UInt64] = [:]

    mutating func add(_ snapshot: FleetSnapshot) {
        var seen: Set<Key> = []
        for node in snapshot.nodes {
            for channel in node.channels {
                let key = Key(peer: node.peer, channel: channel.name)
                seen.insert(key)
                add(channel, key)
            }
        }
        // What is gone for good is forgotten.
        if lines.count > seen.count { lines = lines.filter { seen.contains($0.key) } }
        var now: [String: UInt64] = [:]
        for drop in snapshot.collector.drops { now[drop.reason] = drop.count }
        dropGrowth = now.mapValues { $0 }
        for (reason, count) in now {
            dropGrowth[reason] = drops[reason].map { count > $0 ? count - $0 : 0 } ?? 0
        }
        drops = now
    }

    private mutating func add(_ channel: FleetChannel, _ key: Key) {
        guard let held = lines[key] else {
            guard lines.count < Limits.topHistoriesMax else { return }
            lines[key] = Line(values: [channel.last.value?.double], utc: channel.utc)
            return
        }
        guard held.utc != channel.utc else { return }
        lines[key]?.utc = channel.utc
        lines[key]?.values.append(channel.last.value?.double)
        // In pieces, so that it does not cost a copy each second.
        if held.values.count >= Limits.topValuesMax * 2 {
            lines[key]?.values.removeFirst(Limits.topValuesMax)
        }
    }

    func values(_ peer: PeerID, _ channel: String) -> ArraySlice<Double?> {
        lines[Key(peer: peer, channel: channel)]?.values.suffix(Limits.topValuesMax) ?? []
    }
}
