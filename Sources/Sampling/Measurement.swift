import NearbyCore
import Telemetry

/// What a driver read, before it has a number.
public struct Measurement: Equatable, Sendable {
    public var channel: String
    /// SenML's name (RFC 8428 §12.1); `1` for none.
    public var unit: String
    public var outcome: Outcome
    /// CLOCK_BOOTTIME when it was measured; nil: when `sample` came back.
    public var time: Instant?

    public init(
        _ channel: String, _ unit: String, _ outcome: Outcome, at time: Instant? = nil
    ) {
        self.channel = channel
        self.unit = unit
        self.outcome = outcome
        self.time = time
    }

    /// A value, or a null because the text is not a number.
    public init(_ channel: String, _ unit: String, number text: some StringProtocol) {
        self.channel = channel
        self.unit = unit
        outcome = (try? DecimalValue(parsing: text)).map(Outcome.value) ?? .null(.malformed)
    }

    public init(_ channel: String, _ unit: String, _ coefficient: Int64, exponent: Int8 = 0) {
        self.channel = channel
        self.unit = unit
        outcome = .value(DecimalValue(coefficient: coefficient, exponent: exponent))
    }
}

extension Limits {
    /// Channels that one sensor may give.
    public static let channelsPerSensorMax = 128
}
