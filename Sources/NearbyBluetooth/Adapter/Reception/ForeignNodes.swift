import NearbyCore

/// Nodes of other networks that advertise in reach, each told of once: a misspelt `network` looks
/// like this where Bluetooth is the only link.
///
/// Anybody can invent such nodes. So at most 16 are remembered, and what is beyond is counted only.
struct ForeignNodes: Sendable {
    private struct Entry: Sendable {
        let peerPrefix: UInt64
        var lastHeard: Instant
        var lastTold: Instant
    }

    private var entries: [Entry] = []

    /// - Returns: whether to tell of it now: it is new, or still there after six hours.
    mutating func record(_ peerPrefix: UInt64, _ now: Instant) -> Bool {
        if let index = entries.firstIndex(where: { $0.peerPrefix == peerPrefix }) {
            entries[index].lastHeard = now
            guard now - entries[index].lastTold >= Limits.foreignNodeRepeatInterval else {
                return false
            }
            entries[index].lastTold = now
            return true
        }
        if entries.count >= Limits.foreignNodesMax {
            let silent = entries.indices.min { entries[$0].lastHeard < entries[$1].lastHeard }
            guard let silent, now - entries[silent].lastHeard >= Limits.foreignNodeMemory else {
                return false
            }
            entries.remove(at: silent)
        }
        entries.append(Entry(peerPrefix: peerPrefix, lastHeard: now, lastTold: now))
        return true
    }

    /// Those heard within the last quarter of an hour.
    func count(now: Instant) -> Int {
        entries.count { now - $0.lastHeard < Limits.foreignNodeMemory }
    }
}

extension Limits {
    static let foreignNodesMax = 16
    /// How long one that fell silent is shown and keeps its place.
    static let foreignNodeMemory = Duration.seconds(900)
    /// One that is still there is told again after this time.
    static let foreignNodeRepeatInterval = Duration.seconds(21_600)
}
