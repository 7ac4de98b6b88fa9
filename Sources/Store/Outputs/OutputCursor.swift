/// How far an output has come. Kept in the store under the output's name.
public struct OutputCursor: Hashable, Sendable {
    /// The last entry of the log of changes that is delivered as a whole.
    var change: Int64
    /// Readings that changes up to there had, all in all.
    var total: Int64
    /// How far the entry after it is delivered.
    var place = Place()
    /// Of what the store had before the output: the run that is under way, and how far it is
    /// delivered.
    var historyRun: Int64 = 0
    var historySequence: Int64 = 0

    /// A position in one entry.
    struct Place: Hashable, Sendable {
        /// Channel and time of the reading that was delivered last, where an entry goes by time.
        var channel: Int64 = 0
        var milliseconds: Int64 = -1
        var sequence: Int64 = 0
        /// Readings of the entry that came so far.
        var count: Int64 = 0

        var isStart: Bool { self == Place() }
    }

    init(change: Int64 = 0, total: Int64 = 0) {
        self.change = change
        self.total = total
    }
}

/// An output's cursor, and what has become of its readings so far.
public struct OutputProgress: Hashable, Sendable {
    public var name: String
    public var cursor: OutputCursor
    public var deliveredCount: UInt64 = 0
    /// The other side would not take them.
    public var refusedCount: UInt64 = 0
    /// Deleted before they were delivered.
    public var lostCount: UInt64 = 0

    init(name: String, cursor: OutputCursor) {
        self.name = name
        self.cursor = cursor
    }

    /// So many more were deleted before they were delivered.
    public mutating func lose(_ count: UInt64) { lostCount = lostCount.addingSaturating(count) }
}

extension UInt64 {
    func addingSaturating(_ other: UInt64) -> UInt64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}

/// An output that the store is to keep a cursor for.
public struct OutputRegistration: Hashable, Sendable {
    public var name: String
    /// As its key in the configuration.
    public var kind: String
    /// What it is called without a name of its own; nil: it takes nobody's place.
    public var defaultName: String?
    /// Whether it begins with what the store had before.
    public var wantsHistory: Bool
    /// For how long beyond `Store.Settings.keep` readings stay that it has not delivered.
    public var hold: Duration

    public init(
        name: String, kind: String = "", defaultName: String? = nil, wantsHistory: Bool,
        hold: Duration
    ) {
        self.name = name
        self.kind = kind
        self.defaultName = defaultName
        self.wantsHistory = wantsHistory
        self.hold = hold
    }
}
