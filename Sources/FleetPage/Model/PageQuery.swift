import NearbyCore

/// A question to the store.
enum PageQuery: Hashable, Sendable {
    case chart(ChartQuery)
    /// All channels of a node, with few points: the small lines on its card.
    case lines(LinesQuery)
    /// What went missing for good; of all nodes or one.
    case gaps(PeerID?)
    /// The mesh as it was, nanoseconds since 1970.
    case mesh(Int64)
}

struct ChartQuery: Hashable, Sendable {
    var peer: PeerID
    var channel: String
    var range: TimeRange
    var points: Int
}

struct LinesQuery: Hashable, Sendable {
    var peer: PeerID
    var range: TimeRange
}

struct ExportQuery: Hashable, Sendable {
    var peer: PeerID
    /// Empty: all.
    var channels: [String]
    var range: TimeRange
}

/// Nanoseconds since 1970; the end is excluded.
struct TimeRange: Hashable, Sendable {
    var from: Int64
    var to: Int64

    var length: Int64 { to - from }

    /// Milliseconds as a request has them. Nil unless the range is one of 1 s to 100 years after
    /// 1970.
    init?(from: String?, to: String?) {
        guard let from = from.flatMap(Int64.init), let to = to.flatMap(Int64.init),
            (0...Self.latest).contains(from), (0...Self.latest).contains(to), to - from >= 1_000
        else { return nil }
        self.from = from * 1_000_000
        self.to = to * 1_000_000
    }

    init(from: Int64, to: Int64) {
        self.from = from
        self.to = to
    }

    /// 2200, in milliseconds.
    private static let latest: Int64 = 7_258_118_400_000
}
