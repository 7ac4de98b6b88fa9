import AgentComposition
import NearbyCore
import Sampling
import Telemetry

/// How a sensor does, for people and for programs.
extension SensorHealth {
    /// What is wrong, after the sensor's name; nil while nothing is.
    ///
    /// - Parameter detail: what the driver adds: an exit status, what a program wrote.
    func problem(_ detail: String?, now: Instant) -> String? {
        guard state == .failing || state == .partly, let null = firstNull else { return nil }
        var text =
            state == .failing
            ? "no value (\(null.reason))"
            : "\(null.count) of \(channelCount) channels without a value: \(null.channel) "
                + "(\(null.reason))"
        if let detail { text += ": \(detail)" }
        guard state == .failing else { return text }
        guard let last, let value = last.measurement.outcome.value else {
            return text + "; never had one"
        }
        // Of several channels it is said whose value that was.
        let name = channelCount > 1 ? "\(last.measurement.channel) " : ""
        return text + "; the last was \(name)\(value)\(Self.unit(last.measurement)), "
            + "\(AgeText.text(now - last.time)) ago"
    }

    private static func unit(_ measurement: Measurement) -> String {
        guard measurement.unit != "1", let unit = Unit(measurement.unit) else { return "" }
        return " \(unit.symbol)"
    }

    /// For programs.
    func members(now: Instant) -> [(String, JSONValue)] {
        let null = firstNull
        return [
            ("state", .string(state.rawValue)),
            ("sinceSeconds", .integer((now - since).milliseconds / 1_000)),
            ("channels", .integer(channelCount)),
            ("channelsWithoutValue", .integer(null?.count ?? 0)),
            ("reason", .text(null.map { "\($0.reason)" })),
            (
                "last",
                last.map { last in
                    .object([
                        ("channel", .string(last.measurement.channel)),
                        ("value", .text(last.measurement.outcome.value.map { "\($0)" })),
                        ("unit", .string(last.measurement.unit)),
                        ("ageSeconds", .integer((now - last.time).milliseconds / 1_000)),
                    ])
                } ?? .null
            ),
        ]
    }
}
