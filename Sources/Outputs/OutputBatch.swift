import NearbyCore
import Telemetry

/// A run of an agent as outputs name it: what its birth says, in the collector's words where the
/// configuration gives others.
public struct OutputNode: Hashable, Sendable {
    public var peer: PeerID
    public var run: RunID
    /// 1–63 bytes of UTF-8, chosen by whoever set up the board: escape it. Identifies nothing.
    public var name: String
    /// Ascending by key; keys and values are foreign text too.
    public var labels: [Label]
    /// The model; empty if unknown.
    public var board: String

    public init(peer: PeerID, run: RunID, name: String, labels: [Label], board: String) {
        self.peer = peer
        self.run = run
        self.name = name
        self.labels = labels
        self.board = board
    }
}

/// A channel of a run.
public struct OutputSeries: Hashable, Sendable {
    public var node: OutputNode
    /// 1…65535, within the run.
    public var number: UInt16
    /// 1–63 bytes of UTF-8 without ASCII control characters; foreign text.
    public var channel: String
    public var unit: Unit
    /// Digits after the point that its values usually have, as a power of ten: −2 for hundredths.
    public var scale: Int8

    public init(node: OutputNode, number: UInt16, channel: String, unit: Unit, scale: Int8) {
        self.node = node
        self.number = number
        self.channel = channel
        self.unit = unit
        self.scale = scale
    }
}

/// A reading out of the store. Its key is (peer, run, sequence), in every database the same.
public struct OutputReading: Hashable, Sendable {
    /// Which of the batch's `series`.
    public var series: Int
    /// From 1.
    public var sequence: UInt64
    /// The board's CLOCK_BOOTTIME.
    public var milliseconds: Int64
    /// UTC, nanoseconds since 1970. The same each time the reading is delivered, until an
    /// `OutputRedating` says otherwise: where time is part of a key, nothing comes twice.
    public var utc: Int64
    public var outcome: Outcome
    public var hops: UInt8

    public init(
        series: Int, sequence: UInt64, milliseconds: Int64, utc: Int64, outcome: Outcome,
        hops: UInt8
    ) {
        self.series = series
        self.sequence = sequence
        self.milliseconds = milliseconds
        self.utc = utc
        self.outcome = outcome
        self.hops = hops
    }
}

/// The clock of a run was known wrongly: what was delivered of it with times in `formerUTC` has
/// others now. Each reading of the run that has or had a time in that range comes again, in this
/// batch or those that follow; where time is part of the key, delete the range first.
public struct OutputRedating: Hashable, Sendable {
    public var peer: PeerID
    public var run: RunID
    /// Nanoseconds since 1970.
    public var formerUTC: ClosedRange<Int64>

    public init(peer: PeerID, run: RunID, formerUTC: ClosedRange<Int64>) {
        self.peer = peer
        self.run = run
        self.formerUTC = formerUTC
    }
}

/// What an output is given at once: first the redatings, then the readings, in their order.
public struct OutputBatch: Hashable, Sendable {
    public var redatings: [OutputRedating] = []
    /// Those that `readings` refer to.
    public var series: [OutputSeries] = []
    /// At most `Limits.outputBatchReadings`.
    public var readings: [OutputReading] = []
    /// Whether these readings came in long ago, or come again: they are no news.
    public var isHistorical = false
    /// Whether these readings were delivered before, with another time.
    public var isCorrection = false
    /// Whether the store had these readings before it knew of the output: one with another name may
    /// have delivered them, in the words of that time.
    public var isFromBefore = false

    public init() {}

    public var isEmpty: Bool { redatings.isEmpty && readings.isEmpty }
}

extension Limits {
    /// Readings of one batch for an output.
    public static let outputBatchReadings = 5_000
}
