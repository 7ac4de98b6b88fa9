import NearbyCore

/// Readings of one run in one unreliable message. Given its birth it decodes without any other
/// report.
///
///     0x02 · run 4 · birth number varint · first sequence varint · held varint · base time varint ·
///     count varint · readings · trailing fields (type varint, counted bytes)
///     run        low 32 bits of the run id
///     held       first sequence − lowest sequence that the agent still holds
///     base time  milliseconds of CLOCK_BOOTTIME: the time of the first reading
///
/// A reading is one control byte and what that byte announces, in this order:
///
///      7   6   5   4   3   2   1   0
///     ┌───┬───┬───────┬───────┬───────┐
///     │ext│gap│ time  │channel│ value │
///     └───┴───┴───────┴───────┴───────┘
///     gap      varint ≥ 1: sequence numbers left out before this reading
///     time     0 as the reading before · 1 the last announced step again
///              2 step in milliseconds, signed varint · 3 reserved
///     channel  0 the next number · 1 the same · 2 varint · 3 that of the report's first reading
///     value    0 signed varint, added to the channel's last integer in this report (0 at first)
///              1 exponent 1, coefficient signed varint: what does not fit the channel's scale
///              2 null: reason 1 · 3 the channel's last integer again
///     ext      counted bytes of a later version, skipped
///
/// Before the first reading the channel counts as 0 and the step as 0. Sums of values wrap, so that
/// any integer can be reached.
public struct Report: Equatable, Sendable {
    /// A reading as the report carries it: the value is an integer in its channel's scale.
    public struct Entry: Equatable, Sendable {
        public var sequence: UInt64
        public var channel: UInt16
        /// CLOCK_BOOTTIME, 0…`millisecondsMax`.
        public var milliseconds: Int64
        public var cell: Cell

        public init(sequence: UInt64, channel: UInt16, milliseconds: Int64, cell: Cell) {
            self.sequence = sequence
            self.channel = channel
            self.milliseconds = milliseconds
            self.cell = cell
        }

        /// The largest time whose nanoseconds fit in 64 bits.
        public static let millisecondsMax = Int64.max / 1_000_000
    }

    public enum Cell: Equatable, Sendable {
        case scaled(Int64)
        case decimal(DecimalValue)
        case null(NullReason)
    }

    public var birth: BirthReference
    /// At most the first sequence: what lies below is settled or lost, and need not be asked for.
    public var lowestHeld: UInt64
    /// At least one, in strictly ascending order of sequence.
    public var entries: [Entry]

    public init(birth: BirthReference, lowestHeld: UInt64, entries: [Entry]) {
        self.birth = birth
        self.lowestHeld = lowestHeld
        self.entries = entries
    }

    /// Parses what follows the tag.
    init(parsing reader: inout ByteReader, skippedFields: inout Int) throws(WireError) {
        birth = try BirthReference(parsing: &reader)
        let first = try reader.readVarint()
        let held = try reader.readVarint()
        guard held <= first else { throw .invalid(field: "lowest held") }
        lowestHeld = first - held
        let base = try reader.readVarint()
        guard base <= UInt64(Entry.millisecondsMax) else { throw .invalid(field: "base time") }
        let count = try reader.readVarint()
        guard count > 0 else { throw .invalid(field: "reading count") }
        guard count <= UInt64(reader.remainingCount) else {
            throw .truncated(needed: Int(clamping: count), available: reader.remainingCount)
        }
        var decoder = ReportDecoder(firstSequence: first, baseMilliseconds: Int64(base))
        entries = []
        entries.reserveCapacity(Int(count))
        for _ in 0..<Int(count) {
            entries.append(try decoder.decode(from: &reader, skippedFields: &skippedFields))
        }
        while try TrailingField(parsing: &reader) != nil { skippedFields += 1 }
    }

    /// The whole message, tag first.
    public var bytes: [UInt8] {
        var encoder = ReportEncoder()
        for entry in entries { _ = encoder.append(entry, bytesMax: .max) }
        return encoder.bytes(birth: birth, lowestHeld: lowestHeld)
    }

    /// The readings by the birth's scales, and how many name a channel that the birth does not
    /// list.
    public func readings(using birth: Birth) -> (readings: [Reading], unknownChannelCount: Int) {
        var readings: [Reading] = []
        readings.reserveCapacity(entries.count)
        for entry in entries {
            guard let place = birth.place(of: entry.channel) else { continue }
            let outcome: Outcome
            switch entry.cell {
            case .scaled(let integer):
                let scale = birth.channels[place].scale
                outcome = .value(DecimalValue(coefficient: integer, exponent: scale))
            case .decimal(let value): outcome = .value(value)
            case .null(let reason): outcome = .null(reason)
            }
            readings.append(
                Reading(
                    sequence: entry.sequence, channel: entry.channel,
                    time: Instant(nanoseconds: entry.milliseconds &* 1_000_000), outcome: outcome))
        }
        return (readings, entries.count - readings.count)
    }
}

extension Report.Entry {
    /// A reading on this channel: an integer in its scale wherever that loses no digit, not even a
    /// zero at the end: it says how fine the sensor is.
    public init(_ reading: Reading, scale: Int8) {
        let cell: Report.Cell
        switch reading.outcome {
        case .null(let reason): cell = .null(reason)
        case .value(let value):
            if value.exponent >= scale, let fitting = value.exactlyRescaled(to: scale) {
                cell = .scaled(fitting.coefficient)
            } else {
                cell = .decimal(value)
            }
        }
        self.init(
            sequence: reading.sequence, channel: reading.channel,
            milliseconds: max(0, reading.time.nanoseconds / 1_000_000), cell: cell)
    }
}
