import NearbyCore
import Telemetry

/// A reading as the table holds it: everything in SQLite's signed integers.
struct ReadingRow: Hashable {
    /// From 1.
    var sequence: Int64
    var channel: UInt16
    /// 0…`Report.Entry.millisecondsMax`, CLOCK_BOOTTIME of the board.
    var milliseconds: Int64
    var outcome: Outcome

    /// Nil for a sequence number or a time that no report can hold.
    init?(_ reading: Reading) {
        guard let sequence = Int64(exactly: reading.sequence), sequence > 0,
            reading.time >= .zero
        else { return nil }
        self.sequence = sequence
        channel = reading.channel
        milliseconds = reading.time.nanoseconds / 1_000_000
        outcome = reading.outcome
    }

    /// Columns from `first` on: sequence, milliseconds, coefficient, exponent, reason. Nil for what
    /// no store wrote.
    init?(_ statement: Statement, channel: UInt16, first: Int32 = 0) {
        sequence = statement.integer(first)
        milliseconds = statement.integer(first + 1)
        guard sequence > 0, (0...Report.Entry.millisecondsMax).contains(milliseconds),
            let outcome = Outcome(statement, first: first + 2)
        else { return nil }
        self.channel = channel
        self.outcome = outcome
    }
}

extension Outcome {
    /// Columns from `first` on: coefficient, exponent, reason.
    init?(_ statement: Statement, first: Int32) {
        if let coefficient = statement.optionalInteger(first) {
            guard let exponent = Int8(exactly: statement.integer(first + 1)) else { return nil }
            self = .value(DecimalValue(coefficient: coefficient, exponent: exponent))
        } else {
            guard let code = UInt8(exactly: statement.integer(first + 2)) else { return nil }
            self = .null(NullReason(rawValue: code))
        }
    }

    /// Binds coefficient, exponent and reason.
    func bind(to statement: Statement, first: Int32) {
        switch self {
        case .value(let value):
            statement.bind(first, value.coefficient).bind(first + 1, Int64(value.exponent))
                .bind(first + 2, optional: nil)
        case .null(let reason):
            statement.bind(first, optional: nil).bind(first + 1, optional: nil)
                .bind(first + 2, Int64(reason.rawValue))
        }
    }
}

/// Identifiers as blobs, big-endian.
extension RunID {
    var storedBytes: [UInt8] {
        var writer = ByteWriter(reserving: 8)
        writer.write(value)
        return writer.bytes
    }

    init?(stored bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        guard bytes.count == 8, let value = try? reader.readUInt64() else { return nil }
        self.init(value: value)
    }
}

extension BootID {
    var storedBytes: [UInt8] { PeerID(high: high, low: low).bytes }

    init?(stored bytes: [UInt8]) {
        guard let words = PeerID(bytes: bytes) else { return nil }
        self.init(high: words.high, low: words.low)
    }
}
