import Collector
import Telemetry

/// What becomes of a channel's values: calibration, then a change of the unit. Decimal arithmetic,
/// so that nothing is rounded that decimals can say.
public struct ValueMap: Equatable, Sendable {
    private let scale: DecimalValue
    private let offset: DecimalValue
    private let conversion: UnitConversion?
    /// The unit of what comes out.
    public let unit: Unit
    /// The unit that was wanted, where nothing leads to it: then values stay in their own.
    public let unreachable: Unit?
    /// Whether everything stays as it is.
    public let isIdentity: Bool

    /// Leaves everything as it is.
    public init() { self.init(scale: nil, offset: nil, from: .none, to: nil) }

    init(scale: DecimalValue?, offset: DecimalValue?, from source: Unit, to target: Unit?) {
        self.scale = scale ?? DecimalValue(coefficient: 1)
        self.offset = offset ?? DecimalValue(coefficient: 0)
        let wanted = target ?? source
        if source == .none || source == wanted {
            (unit, conversion, unreachable) = (wanted, nil, nil)
        } else if let change = UnitConversion(from: source.name, to: wanted.name) {
            (unit, conversion, unreachable) = (wanted, change, nil)
        } else {
            (unit, conversion, unreachable) = (source, nil, wanted)
        }
        isIdentity =
            self.scale == DecimalValue(coefficient: 1) && self.offset.coefficient == 0
            && conversion == nil
    }

    /// Nil if the result does not fit.
    public func callAsFunction(_ value: DecimalValue) -> DecimalValue? {
        if isIdentity { return value }
        guard let moved = value.multiplied(by: scale)?.adding(offset) else { return nil }
        return conversion.map { $0(moved) } ?? moved
    }

    /// A null stays one; a value whose result does not fit becomes one.
    public func callAsFunction(_ outcome: Outcome) -> Outcome {
        guard !isIdentity, let value = outcome.value else { return outcome }
        return self(value).map { .value($0) } ?? .null(.outOfRange)
    }

    /// As of values, in binary floating point: for means.
    public func callAsFunction(_ value: Double) -> Double {
        let moved = value * scale.double + offset.double
        return conversion.map { moved * $0.factor + $0.shift } ?? moved
    }

    /// What a window says of the values. Where smaller values become the greater ones, nothing is
    /// known of the upper quantile.
    public func callAsFunction(_ statistics: Statistics) -> Statistics {
        if isIdentity { return statistics }
        var result = statistics
        let isTurned = scale.coefficient < 0
        result.min = (isTurned ? statistics.max : statistics.min).flatMap { self($0) }
        result.max = (isTurned ? statistics.min : statistics.max).flatMap { self($0) }
        // Rounded otherwise than values, they may miss them by the last digit.
        let least = result.min?.double ?? -.infinity
        let most = max(least, result.max?.double ?? .infinity)
        func among(_ value: Double) -> Double { min(max(self(value), least), most) }
        result.mean = statistics.mean.map(among)
        let stretch = abs(scale.double * (conversion?.factor ?? 1))
        result.standardDeviation = statistics.standardDeviation.map { $0 * stretch }
        result.p50 = statistics.p50.map(among)
        result.p95 = isTurned ? nil : statistics.p95.map(among)
        return result
    }
}
