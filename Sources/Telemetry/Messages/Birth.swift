import NearbyCore

/// A run that ended before, and how far its readings had reached the disk.
public struct PreviousRun: Equatable, Sendable {
    public var run: RunID
    public var lastSequence: UInt64
    /// Whether it ended in order, so that all of its readings up to `lastSequence` are settled or
    /// on disk, and there were no more; otherwise it was killed, and what came after `lastSequence`
    /// was in memory only. Nil: not said, as by earlier versions.
    public var endedInOrder: Bool?

    public init(run: RunID, lastSequence: UInt64, endedInOrder: Bool? = nil) {
        self.run = run
        self.lastSequence = lastSequence
        self.endedInOrder = endedInOrder
    }
}

/// What a report's numbers mean: sent reliably on connecting, when channels changed, and when asked
/// for.
///
///     0x01 · number 2 · run 8 · boot id 16 · node (NodeDescription) · channel count varint ·
///     channels (Channel, each counted) · trailing fields (type varint, counted bytes)
///     trailing field 1: previous run 8 · last sequence on disk varint · how it ended 1, if known:
///                       0 killed, 1 in order
///     trailing field 2: when it was sent varint, milliseconds of CLOCK_BOOTTIME
///     trailing field 3: clock rank 1 · unix offset 8, nanoseconds, signed
///
/// It lists every channel of the run so far, so that it serves for the reports of the run's earlier
/// births too. The first birth of a run has the number 1 and each later one the next.
public struct Birth: Equatable, Sendable {
    public var number: UInt16
    public var run: RunID
    public var boot: BootID
    public var node: NodeDescription {
        get { words.node }
        set { words = Words(newValue, channels) }
    }
    /// In ascending order of their numbers.
    public var channels: [Channel] {
        get { words.channels }
        set { words = Words(node, newValue) }
    }
    public var previous: PreviousRun?
    /// When this copy was sent, the agent's clock in whole milliseconds. It dates readings that
    /// were kept until somebody came: they are older than the report that brings them.
    public var sent: Instant?
    /// What the agent itself knew of UTC when this birth was written. It dates the readings of a
    /// boot that ended before anybody came.
    public var clock: ClockReading?
    private var words: Words

    /// One counted reference instead of four (name, labels, board, channels): a collector passes
    /// the birth on many times for each report that it reads.
    private final class Words: Sendable {
        let node: NodeDescription
        let channels: [Channel]

        init(_ node: NodeDescription, _ channels: [Channel]) {
            self.node = node
            self.channels = channels
        }
    }

    public init(
        number: UInt16, run: RunID, boot: BootID, node: NodeDescription, channels: [Channel],
        previous: PreviousRun? = nil, sent: Instant? = nil, clock: ClockReading? = nil
    ) {
        self.number = number
        self.run = run
        self.boot = boot
        self.previous = previous
        self.sent = sent
        self.clock = clock
        words = Words(node, channels)
    }

    public static func == (left: Birth, right: Birth) -> Bool {
        left.number == right.number && left.run == right.run && left.boot == right.boot
            && left.previous == right.previous && left.sent == right.sent
            && left.clock == right.clock
            && (left.words === right.words
                || left.node == right.node && left.channels == right.channels)
    }

    /// How reports name it.
    public var reference: BirthReference { BirthReference(run: run, number: number) }

    /// Whether a report with this reference can be read with this birth: its own, or that of an
    /// earlier birth of the run.
    public func covers(_ earlier: BirthReference) -> Bool {
        earlier.runTag == reference.runTag && earlier.number <= number
    }

    /// The channel of this number, if the birth lists it.
    public func channel(_ number: UInt16) -> Channel? { place(of: number).map { channels[$0] } }

    /// Where in `channels` it is.
    func place(of number: UInt16) -> Int? {
        // Numbers are handed out from 1 without gaps, so the guess is nearly always right.
        let guess = Int(number) - 1
        if channels.indices.contains(guess), channels[guess].number == number { return guess }
        return channels.firstIndex { $0.number == number }
    }
}

/// The birth that a report needs: enough of the run id to tell the runs of one node apart.
public struct BirthReference: Hashable, Sendable {
    /// Low 32 bits of the run id.
    public let runTag: UInt32
    public let number: UInt16

    public init(run: RunID, number: UInt16) {
        runTag = UInt32(truncatingIfNeeded: run.value)
        self.number = number
    }

    init(parsing reader: inout ByteReader) throws(WireError) {
        runTag = try reader.readUInt32()
        guard let number = UInt16(exactly: try reader.readVarint()) else {
            throw .invalid(field: "birth number")
        }
        self.number = number
    }

    func emit(into writer: inout ByteWriter) {
        writer.write(runTag)
        writer.writeVarint(UInt64(number))
    }

    static let byteCountMax = 7
}

extension Birth {
    private static let previousRunField: UInt64 = 1
    private static let sentField: UInt64 = 2
    private static let clockField: UInt64 = 3

    /// Parses what follows the tag.
    init(parsing reader: inout ByteReader, skippedFields: inout Int) throws(WireError) {
        number = try reader.readUInt16()
        run = RunID(value: try reader.readUInt64())
        boot = BootID(high: try reader.readUInt64(), low: try reader.readUInt64())
        let node = try NodeDescription(parsing: &reader)
        let count = try reader.readVarint()
        guard count <= UInt64(Limits.channelsPerRunMax) else {
            throw .tooLong(limit: Limits.channelsPerRunMax, actual: Int(clamping: count))
        }
        var channels: [Channel] = []
        for _ in 0..<Int(count) {
            let channel = try Channel(parsing: &reader, skippedFields: &skippedFields)
            if let last = channels.last, last.number >= channel.number {
                throw .invalid(field: "channel number")
            }
            channels.append(channel)
        }
        words = Words(node, channels)
        previous = nil
        sent = nil
        clock = nil
        while let field = try TrailingField(parsing: &reader) {
            var inner = ByteReader(field.bytes)
            switch field.type {
            case Self.previousRunField:
                let run = RunID(value: try inner.readUInt64())
                previous = PreviousRun(run: run, lastSequence: try inner.readVarint())
                if inner.remainingCount > 0 {
                    previous?.endedInOrder = try inner.readUInt8() == 1
                }
            case Self.sentField: sent = try Self.readTime(from: &inner)
            case Self.clockField: clock = try ClockReading(parsing: &inner)
            default:
                skippedFields += 1
                continue
            }
            if inner.remainingCount > 0 { skippedFields += 1 }
        }
    }

    func emit(into writer: inout ByteWriter) {
        writer.write(number)
        writer.write(run.value)
        writer.write(boot.high)
        writer.write(boot.low)
        node.emit(into: &writer)
        writer.writeVarint(UInt64(channels.count))
        for channel in channels { channel.emit(into: &writer) }
        if let previous {
            var inner = ByteWriter()
            inner.write(previous.run.value)
            inner.writeVarint(previous.lastSequence)
            if let isInOrder = previous.endedInOrder { inner.write(isInOrder ? 1 as UInt8 : 0) }
            TrailingField(type: Self.previousRunField, bytes: inner.bytes[...]).emit(into: &writer)
        }
        if let sent {
            var inner = ByteWriter()
            inner.writeVarint(UInt64(max(0, sent.nanoseconds / 1_000_000)))
            TrailingField(type: Self.sentField, bytes: inner.bytes[...]).emit(into: &writer)
        }
        if let clock {
            var inner = ByteWriter()
            clock.emit(into: &inner)
            TrailingField(type: Self.clockField, bytes: inner.bytes[...]).emit(into: &writer)
        }
    }

    private static func readTime(from reader: inout ByteReader) throws(WireError) -> Instant {
        let milliseconds = try reader.readVarint()
        guard milliseconds <= UInt64(Report.Entry.millisecondsMax) else {
            throw .invalid(field: "sent")
        }
        return Instant(nanoseconds: Int64(milliseconds) * 1_000_000)
    }
}

/// What a later version may append to any message: skipped by its length.
struct TrailingField {
    var type: UInt64
    var bytes: ArraySlice<UInt8>

    init(type: UInt64, bytes: ArraySlice<UInt8>) {
        self.type = type
        self.bytes = bytes
    }

    /// Nil at the end of the message.
    init?(parsing reader: inout ByteReader) throws(WireError) {
        guard reader.remainingCount > 0 else { return nil }
        type = try reader.readVarint()
        bytes = try reader.readCountedBytes(limit: reader.remainingCount)
    }

    func emit(into writer: inout ByteWriter) {
        writer.writeVarint(type)
        writer.writeCounted(bytes)
    }
}
