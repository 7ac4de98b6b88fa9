import NearbyCore

/// Why readings are lost for good. Codes of later versions are kept as they are.
public struct GapReason: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The journal in memory was full, and there was no spool to take them.
    public static let memoryFull = GapReason(rawValue: 1)
    /// The spool was full; the oldest went.
    public static let spoolFull = GapReason(rawValue: 2)
    /// What was on disk cannot be read any more.
    public static let damaged = GapReason(rawValue: 3)
    /// Between what is on disk of a run: in memory only when the agent ended, unless it was sent.
    public static let power = GapReason(rawValue: 4)
    /// A collector's own word, never an agent's: it never had them, and the agent holds them no
    /// more. Another collector settled them, or the agent forgot to say that they are lost.
    public static let settledElsewhere = GapReason(rawValue: 5)

    public var description: String {
        switch self {
        case .memoryFull: "memory-full"
        case .spoolFull: "spool-full"
        case .damaged: "damaged"
        case .power: "power"
        case .settledElsewhere: "elsewhere"
        default: "reason-\(rawValue)"
        }
    }
}

/// Readings of a run that nobody will ever send: announced reliably, so that the collector asks no
/// more and can say why they are missing.
///
///     0x06 · run 8 · first varint · count varint · reason 1 · trailing fields
public struct Gap: Hashable, Sendable {
    public let run: RunID
    /// Not empty, from 1.
    public let range: Range<UInt64>
    public let reason: GapReason

    /// Where a range ends that goes to the end of its run, wherever that was: what the store can
    /// count to. Only a collector writes such a gap, for a run that was killed.
    public static let openEnd = UInt64(Int64.max)

    /// Whether nobody knows how many readings it is, if any.
    public var isOpen: Bool { range.upperBound == Self.openEnd }

    public init(run: RunID, range: Range<UInt64>, reason: GapReason) {
        self.run = run
        self.range = range
        self.reason = reason
    }

    init(parsing reader: inout ByteReader, skippedFields: inout Int) throws(WireError) {
        run = RunID(value: try reader.readUInt64())
        let first = try reader.readVarint()
        let count = try reader.readVarint()
        let (end, isPast) = first.addingReportingOverflow(count)
        guard first > 0, count > 0, !isPast else { throw .invalid(field: "gap") }
        range = first..<end
        reason = GapReason(rawValue: try reader.readUInt8())
        while try TrailingField(parsing: &reader) != nil { skippedFields += 1 }
    }

    func emit(into writer: inout ByteWriter) {
        writer.write(run.value)
        writer.writeVarint(range.lowerBound)
        writer.writeVarint(range.upperBound - range.lowerBound)
        writer.write(reason.rawValue)
    }
}
