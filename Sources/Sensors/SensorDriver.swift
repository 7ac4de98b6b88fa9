import NearbyCore
import Telemetry

/// Reads one sensor, or a group that is read together. It may block: it runs on a worker, one call
/// at a time.
public protocol SensorDriver: AnyObject, Sendable {
    /// For people and for messages: the driver and what it reads.
    var name: String { get }
    /// One measurement of each of its channels. What cannot be read is a null with its reason,
    /// never an old value.
    func sample() -> [Measurement]
    /// What `rivulet status` should say beside the name, such as how many lines were bad. Asked on
    /// the logic thread: it must not wait for a sample that hangs.
    var remark: String? { get }
}

extension SensorDriver {
    public var remark: String? { nil }
}

/// What a driver read, before it has a time and a number.
public struct Measurement: Equatable, Sendable {
    public var channel: String
    /// SenML's name (RFC 8428 §12.1).
    public var unit: String
    public var outcome: Outcome

    public init(_ channel: String, _ unit: String, _ outcome: Outcome) {
        self.channel = channel
        self.unit = unit
        self.outcome = outcome
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
