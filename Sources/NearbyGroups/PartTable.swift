import NearbyCore

/// The beginnings of messages that came in parts, by the number that their data carry.
struct PartTable: Sendable {
    private struct Beginning: Sendable {
        var bytes: [UInt8] = []
        /// When it began, or last grew by as much as members send at once. A byte now and then is
        /// no growth: who holds room so would never be the stalest.
        var grownAt: Instant
    }

    private var beginnings: [UInt16: Beginning] = [:]
    /// Of all of them; at most `Limits.groupPartsBytesMax`.
    private var byteCount = 0

    /// Whether the message is no longer with this part than one may be.
    func mayGrow(_ number: UInt16, by data: ArraySlice<UInt8>) -> Bool {
        (beginnings[number]?.bytes.count ?? 0) + data.count <= Limits.groupMessageBytesMax
    }

    func hasRoom(for data: ArraySlice<UInt8>) -> Bool {
        byteCount + data.count <= Limits.groupPartsBytesMax
    }

    /// The one that has not grown for longest; nil: there is none.
    var stalest: UInt16? {
        beginnings.min { ($0.value.grownAt, $0.key) < ($1.value.grownAt, $1.key) }?.key
    }

    /// Forgets what is in the way, the stalest first.
    mutating func makeRoom(for data: ArraySlice<UInt8>) -> [UInt16] {
        var evicted: [UInt16] = []
        while !hasRoom(for: data), let stalest {
            forget(stalest)
            evicted.append(stalest)
        }
        return evicted
    }

    /// The caller has asked `mayGrow` and `hasRoom`.
    mutating func add(_ data: ArraySlice<UInt8>, to number: UInt16, _ now: Instant) {
        let before = beginnings[number]?.bytes.count ?? 0
        beginnings[number, default: Beginning(grownAt: now)].bytes += data
        byteCount += data.count
        let size = Limits.groupPartBytesMax
        if (before + data.count) / size > before / size { beginnings[number]?.grownAt = now }
    }

    /// The message of which this is the end.
    mutating func take(_ number: UInt16, endingWith data: [UInt8]) -> [UInt8] {
        guard let beginning = beginnings.removeValue(forKey: number)?.bytes else { return data }
        byteCount -= beginning.count
        return beginning + data
    }

    mutating func forget(_ number: UInt16) {
        byteCount -= beginnings.removeValue(forKey: number)?.bytes.count ?? 0
    }
}
