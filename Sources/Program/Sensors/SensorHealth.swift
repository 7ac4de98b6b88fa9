import NearbyCore
import Sampling
import Sensors
import Telemetry

/// How one sensor does: which of its channels have values, the last one, and since when.
struct SensorHealth {
    enum State: String {
        /// It has given nothing yet.
        case starting
        case good
        /// Some of its channels have no value.
        case partly
        case failing
    }

    enum Change: Equatable {
        case failed
        case recovered
    }

    private(set) var state = State.starting
    /// When the state changed last.
    private(set) var since: Instant
    /// The newest value.
    private(set) var last: (measurement: Measurement, time: Instant)?
    private var values: Set<String> = []
    private var nulls: [String: NullReason] = [:]
    /// The state that the log told of last; the worst that it told of, and when.
    private var told: (state: State, worst: State, time: Instant)?

    init(now: Instant) { since = now }

    /// Takes what the sensor gave.
    ///
    /// - Parameter isWhole: the measurements are all that the sensor has; otherwise some channels
    ///   of it.
    /// - Returns: what is worth a line in the log. One that fails now and then is told of every ten
    ///   minutes at most.
    mutating func record(_ measurements: [Measurement], isWhole: Bool, now: Instant) -> Change? {
        guard !measurements.isEmpty else { return nil }
        if isWhole { (values, nulls) = ([], [:]) }
        for measurement in measurements { record(measurement, now) }
        guard !values.isEmpty || !nulls.isEmpty else { return nil }
        let newer: State = nulls.isEmpty ? .good : values.isEmpty ? .failing : .partly
        if newer != state { (state, since) = (newer, now) }
        return change(now)
    }

    private mutating func record(_ measurement: Measurement, _ now: Instant) {
        let name = measurement.channel
        guard
            values.contains(name) || nulls[name] != nil
                || values.count + nulls.count < Limits.channelsPerSensorMax
        else { return }
        switch measurement.outcome {
        case .null(.warmingUp): break
        case .null(let reason):
            values.remove(name)
            nulls[name] = reason
        case .value:
            nulls[name] = nil
            values.insert(name)
            last = (measurement, now)
        }
    }

    private mutating func change(_ now: Instant) -> Change? {
        guard state != .good else {
            guard let told, told.state != .good else { return nil }
            self.told = (.good, told.worst, told.time)
            return .recovered
        }
        if let told {
            guard told.state == .good || (told.state == .partly && state == .failing) else {
                return nil
            }
            let isWorse = told.worst == .partly && state == .failing
            guard isWorse || now - told.time >= Limits.sensorNoticeInterval else { return nil }
        }
        told = (state, state, now)
        return .failed
    }

    // MARK: Text

    /// The first channel without a value, in the order of names, and how many there are.
    var firstNull: (channel: String, reason: NullReason, count: Int)? {
        nulls.min { $0.key < $1.key }.map { ($0.key, $0.value, nulls.count) }
    }

    var channelCount: Int { values.count + nulls.count }

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
            ("channelsWithoutValue", .integer(nulls.count)),
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

/// Spans of time for people.
package enum AgeText {
    /// `12 s`, `4 min`, `3 h`, `9 d`: whole units, rounded down.
    package static func text(_ age: Duration) -> String {
        let seconds = max(0, age.milliseconds / 1_000)
        switch seconds {
        case ..<60: return "\(seconds) s"
        case ..<3_600: return "\(seconds / 60) min"
        case ..<86_400: return "\(seconds / 3_600) h"
        default: return "\(seconds / 86_400) d"
        }
    }
}

extension Limits {
    /// Between two lines in the log that one sensor fails.
    static let sensorNoticeInterval = Duration.seconds(600)
}
