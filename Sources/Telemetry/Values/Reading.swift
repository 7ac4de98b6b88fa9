import NearbyCore

/// Why a reading has no value. Codes of later versions are kept as they are.
public struct NullReason: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: UInt8

    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let unspecified = NullReason(rawValue: 0)
    /// The sensor did not answer in time.
    public static let timeout = NullReason(rawValue: 1)
    /// There is no such sensor now.
    public static let absent = NullReason(rawValue: 2)
    /// Reading it failed (an error from the kernel).
    public static let failed = NullReason(rawValue: 3)
    /// The sensor's own checksum was wrong.
    public static let checksum = NullReason(rawValue: 4)
    /// What came is no number, or none that fits.
    public static let malformed = NullReason(rawValue: 5)
    /// Outside what the sensor can measure.
    public static let outOfRange = NullReason(rawValue: 6)
    /// Nothing new for so long that the last value no longer holds.
    public static let expired = NullReason(rawValue: 7)
    /// The command ended with an error.
    public static let commandFailed = NullReason(rawValue: 8)
    /// We may not read it.
    public static let denied = NullReason(rawValue: 9)
    /// The sensor is not ready yet.
    public static let warmingUp = NullReason(rawValue: 10)
    /// It repeats itself for longer than what it measures can stand still.
    public static let frozen = NullReason(rawValue: 11)
    /// Somebody else holds it.
    public static let busy = NullReason(rawValue: 12)

    public var description: String {
        Int(rawValue) < Self.names.count ? Self.names[Int(rawValue)] : "reason-\(rawValue)"
    }

    private static let names = [
        "unspecified", "timeout", "absent", "failed", "checksum", "malformed", "out-of-range",
        "expired",
        "command-failed", "denied", "warming-up", "frozen", "busy",
    ]
}

/// Whether a reading can be used.
public enum Quality: Hashable, Sendable {
    case good
    case null(NullReason)
}

/// What came of measuring: a value, or none and why.
public enum Outcome: Hashable, Sendable {
    case value(DecimalValue)
    case null(NullReason)

    public var value: DecimalValue? {
        if case .value(let value) = self { return value }
        return nil
    }

    public var quality: Quality {
        switch self {
        case .value: .good
        case .null(let reason): .null(reason)
        }
    }
}

/// What a driver hands over: an outcome on a channel named by its description.
public struct Sample: Equatable, Sendable {
    /// Of a null only name and unit count: its scale is a guess.
    public var channel: ChannelDescription
    public var outcome: Outcome
    /// CLOCK_BOOTTIME of the board when it was measured.
    public var time: Instant

    public init(channel: ChannelDescription, outcome: Outcome, time: Instant) {
        self.channel = channel
        self.outcome = outcome
        self.time = time
    }
}

/// One measurement of a run. Keyed by (peer, run, sequence) everywhere.
public struct Reading: Hashable, Sendable {
    /// From 1, one counter for all channels of the run.
    public var sequence: UInt64
    /// The channel's number, from 1; described by the run's birth.
    public var channel: UInt16
    /// CLOCK_BOOTTIME of the board, whole milliseconds (what the report carries).
    public var time: Instant
    public var outcome: Outcome

    public init(sequence: UInt64, channel: UInt16, time: Instant, outcome: Outcome) {
        self.sequence = sequence
        self.channel = channel
        self.time = time
        self.outcome = outcome
    }

    public var quality: Quality { outcome.quality }
}
