import NearbyCore

/// Readings of one run, as the journal keeps them in memory and on disk.
public struct SpoolBlock: Equatable, Sendable {
    public var run: RunID
    /// The sequence numbers in `bytes`, all of them.
    public var range: Range<UInt64>
    /// A whole report message.
    public var bytes: [UInt8]

    public init(run: RunID, range: Range<UInt64>, bytes: [UInt8]) {
        self.run = run
        self.range = range
        self.bytes = bytes
    }
}

/// Where a block lies on disk.
public struct SpoolPlace: Hashable, Sendable {
    public var segment: UInt64
    public var offset: Int
    public var byteCount: Int

    public init(segment: UInt64, offset: Int, byteCount: Int) {
        self.segment = segment
        self.offset = offset
        self.byteCount = byteCount
    }
}

/// Sequence numbers of one run.
public struct RunRange: Hashable, Sendable {
    public var run: RunID
    public var range: Range<UInt64>

    public init(run: RunID, range: Range<UInt64>) {
        self.run = run
        self.range = range
    }
}

/// What was found on disk of a run that ended before.
public struct SpooledRun: Equatable, Sendable {
    public var birth: Birth
    /// In ascending order, disjoint.
    public var blocks: [(range: Range<UInt64>, place: SpoolPlace)]

    public init(birth: Birth, blocks: [(range: Range<UInt64>, place: SpoolPlace)]) {
        self.birth = birth
        self.blocks = blocks
    }

    public static func == (left: SpooledRun, right: SpooledRun) -> Bool {
        left.birth == right.birth && left.blocks.elementsEqual(right.blocks, by: ==)
    }
}
