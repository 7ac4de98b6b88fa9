import NearbyCore
import Telemetry

/// Shapes what one sensor measures into what is worth a reading, channel by channel.
///
/// A null is always given, once for its reason and again after `silence`: that a sensor fails must
/// be seen at once, and that it works again too.
///
/// A channel whose unit cannot be converted to the one that is wanted is given in its own; that is
/// to be told, once.
public struct Sampler: Sendable {
    /// A wish for a unit of another quantity.
    public struct RefusedUnit: Equatable, Sendable, CustomStringConvertible {
        /// As the driver calls it.
        public var channel: String
        public var unit: String
        public var wanted: String

        public var description: String {
            let what = unit == "1" ? "has no unit" : "is in \(unit)"
            return "\(channel) \(what), which cannot be converted to \(wanted), and is given as it "
                + "is; correct or leave out unit of \(channel) under channels"
        }
    }

    fileprivate struct SampledChannel: Sendable {
        var window: [DecimalValue] = []
        var last: (outcome: Outcome, time: Instant)?
        /// From the unit that the driver gives; nil: none, or not possible.
        var conversion: UnitConversion?
        var sourceUnit: String?
        /// Its unit was told of.
        var isRefused = false
    }

    private let shape: ChannelShape
    private let shapes: [String: ChannelShape]
    private var channels: [String: SampledChannel] = [:]
    private var refused: [RefusedUnit] = []

    /// - Parameter shapes: of channels that have one of their own, by the driver's name for them.
    public init(_ shape: ChannelShape, channels shapes: [String: ChannelShape] = [:]) {
        self.shape = shape
        self.shapes = shapes
    }

    /// What of these is to be given now, as it is to be given.
    public mutating func shape(_ measurements: [Measurement], now: Instant) -> [Measurement] {
        measurements.compactMap { (measurement: Measurement) -> Measurement? in
            let shape = shapes[measurement.channel] ?? self.shape
            if shape.isLeftOut { return nil }
            if shape == ChannelShape() { return measurement }
            guard
                channels[measurement.channel] != nil
                    || channels.count < Limits.channelsPerSensorMax
            else { return measurement }
            var channel = channels[measurement.channel] ?? SampledChannel()
            defer { channels[measurement.channel] = channel }
            if let unit = channel.refusal(measurement, shape) { refused.append(unit) }
            return channel.shape(measurement, shape, measurement.time ?? now)
        }
    }

    /// What is to be told since this was asked last: a channel once, with its first value.
    public mutating func takeRefused() -> [RefusedUnit] {
        defer { refused = [] }
        return refused
    }
}

extension Sampler.SampledChannel {
    /// A null may stand for a device of which no unit is known.
    fileprivate mutating func refusal(
        _ measurement: Measurement, _ shape: ChannelShape
    ) -> Sampler.RefusedUnit? {
        guard !isRefused, measurement.outcome.value != nil, let wanted = shape.unit,
            wanted != measurement.unit,
            UnitConversion(from: measurement.unit, to: wanted) == nil
        else { return nil }
        isRefused = true
        return Sampler.RefusedUnit(
            channel: measurement.channel, unit: measurement.unit, wanted: wanted)
    }

    fileprivate mutating func shape(
        _ measurement: Measurement, _ shape: ChannelShape, _ now: Instant
    ) -> Measurement? {
        if sourceUnit != measurement.unit {
            sourceUnit = measurement.unit
            conversion = shape.unit.flatMap { UnitConversion(from: measurement.unit, to: $0) }
        }
        var result = measurement
        result.channel = shape.name ?? measurement.channel
        if conversion != nil { result.unit = shape.unit ?? measurement.unit }
        guard case .value(let value) = measurement.outcome else {
            window = []
            return isWorthIt(result.outcome, shape, now) ? given(result, now) : nil
        }
        guard let reduced = reduce(value, shape) else { return nil }
        result.outcome = calibrated(reduced, shape)
        return isWorthIt(result.outcome, shape, now) ? given(result, now) : nil
    }

    private mutating func given(_ measurement: Measurement, _ now: Instant) -> Measurement {
        last = (measurement.outcome, now)
        return measurement
    }

    /// Nil until there are enough samples.
    private mutating func reduce(_ value: DecimalValue, _ shape: ChannelShape) -> DecimalValue? {
        guard shape.samples > 1 else { return value }
        window.append(value)
        guard window.count >= min(shape.samples, Limits.samplesPerValueMax) else { return nil }
        defer { window = [] }
        switch shape.reduction {
        case .median:
            // Of an even number, the lower of the two in the middle: a value that was measured.
            return window.sorted()[(window.count - 1) / 2]
        case .mean: return DecimalValue.mean(of: window) ?? value
        }
    }

    private func calibrated(_ value: DecimalValue, _ shape: ChannelShape) -> Outcome {
        guard let scaled = value.multiplied(by: shape.scale)?.adding(shape.offset),
            let converted = conversion.map({ $0(scaled) }) ?? scaled
        else { return .null(.outOfRange) }
        return .value(converted)
    }

    private func isWorthIt(_ outcome: Outcome, _ shape: ChannelShape, _ now: Instant) -> Bool {
        guard let last, shape.deadband != .none || outcome.value == nil else { return true }
        if let silence = shape.silence, now - last.time >= silence { return true }
        switch (outcome, last.outcome) {
        case (.null(let reason), .null(let earlier)):
            return reason != earlier || shape.deadband == .none
        case (.value(let value), .value(let earlier)):
            guard let change = value.subtracting(earlier)?.magnitude else { return true }
            switch shape.deadband {
            case .none: return true
            case .absolute(let least): return change >= least
            case .relative(let share):
                guard
                    let hundred = change.multiplied(by: DecimalValue(coefficient: 100)),
                    let least = earlier.magnitude.multiplied(by: share)
                else { return true }
                return hundred > least || (hundred == least && change.coefficient != 0)
            }
        default: return true
        }
    }
}

extension DecimalValue {
    /// Rounded to one place more than the finest of them; nil if it does not fit.
    static func mean(of values: [DecimalValue]) -> DecimalValue? {
        guard let finest = values.map(\.exponent).min(),
            let exponent = Int8(exactly: Int(finest) - 1)
        else { return nil }
        var sum: Int128 = 0
        for value in values {
            guard let fine = value.exactlyRescaled(to: exponent) else { return nil }
            sum += Int128(fine.coefficient)
        }
        let count = Int128(values.count)
        let half = sum < 0 ? -count / 2 : count / 2
        return Int64(exactly: (sum + half) / count).map {
            DecimalValue(coefficient: $0, exponent: exponent)
        }
    }
}
