import NearbyCore
import Sampling
import Telemetry

/// How one sensor does: which of its channels have values, the last one, and since when.
public struct SensorHealth: Sendable {
    package enum State: String, Sendable {
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

    package private(set) var state = State.starting
    /// When the state changed last.
    package private(set) var since: Instant
    /// The newest value.
    package private(set) var last: (measurement: Measurement, time: Instant)?
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
            guard isWorse || now - told.time >= Limits.sensorDiagnosticInterval else { return nil }
        }
        told = (state, state, now)
        return .failed
    }

    /// The first channel without a value, in the order of names, and how many there are.
    package var firstNull: (channel: String, reason: NullReason, count: Int)? {
        nulls.min { $0.key < $1.key }.map { ($0.key, $0.value, nulls.count) }
    }

    package var channelCount: Int { values.count + nulls.count }
}

extension Limits {
    /// Between two lines in the log that one sensor fails.
    static let sensorDiagnosticInterval = Duration.seconds(600)
}
