import Telemetry

/// The channels that a sensor gave last: what becomes null when it gives nothing.
public struct KnownChannels: Sendable {
    private var channels: [(name: String, unit: String)]

    /// Until the sensor has given something, it has this one channel.
    public init(_ name: String, unit: String) { channels = [(name, unit)] }

    /// Takes over the channels of a sample; one without any changes nothing.
    public mutating func record(_ measurements: [Measurement]) {
        if measurements.isEmpty { return }
        channels = measurements.map { ($0.channel, $0.unit) }
    }

    /// A null for each of them.
    public func nulls(_ reason: NullReason) -> [Measurement] {
        channels.map { Measurement($0.name, $0.unit, .null(reason)) }
    }
}
