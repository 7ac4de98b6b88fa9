import NearbyCore
import Telemetry

extension Limits {
    /// Values of one channel and window that are kept for quantiles; beyond it they are a random
    /// sample.
    static let windowValuesMax = 1_024
}

/// What a window says about the values of one channel.
public struct Statistics: Hashable, Sendable {
    /// Readings with a value.
    public var count: Int
    /// Readings without one.
    public var nullCount: Int
    public var min: DecimalValue?
    public var max: DecimalValue?
    public var mean: Double?
    /// Of the sample (n − 1); nil under two values.
    public var standardDeviation: Double?
    /// Nearest rank: the value at place ⌈q·n⌉.
    public var p50: Double?
    public var p95: Double?
    /// Whether the quantiles come from all values, not from a sample of them.
    public var areQuantilesExact: Bool

    package init(
        count: Int, nullCount: Int, min: DecimalValue?, max: DecimalValue?, mean: Double?,
        standardDeviation: Double?, p50: Double?, p95: Double?, areQuantilesExact: Bool
    ) {
        self.count = count
        self.nullCount = nullCount
        self.min = min
        self.max = max
        self.mean = mean
        self.standardDeviation = standardDeviation
        self.p50 = p50
        self.p95 = p95
        self.areQuantilesExact = areQuantilesExact
    }
}

/// Gathers the values of one channel and window: Welford's algorithm for mean and variance, the
/// values themselves for quantiles.
package struct WindowAccumulator: Sendable {
    package private(set) var count = 0
    package private(set) var nullCount = 0
    package private(set) var last: Latest?
    private var min: DecimalValue?
    private var max: DecimalValue?
    private var mean = 0.0
    private var squares = 0.0
    private var values: [Double] = []

    package init() {}

    package mutating func add(_ reading: Latest, generator: inout SeededGenerator) {
        last = Latest.newer(last, reading)
        guard let value = reading.outcome.value else {
            nullCount += 1
            return
        }
        count += 1
        if min.map({ value < $0 }) ?? true { min = value }
        if max.map({ $0 < value }) ?? true { max = value }
        let number = value.double
        let difference = number - mean
        mean += difference / Double(count)
        squares += difference * (number - mean)
        keep(number, generator: &generator)
    }

    /// Reservoir sampling (Vitter's algorithm R) beyond the limit.
    private mutating func keep(_ number: Double, generator: inout SeededGenerator) {
        if values.count < Limits.windowValuesMax {
            values.append(number)
            return
        }
        let place = Int.random(in: 0..<count, using: &generator)
        if place < values.count { values[place] = number }
    }

    package var statistics: Statistics {
        let sorted = values.sorted()
        return Statistics(
            count: count, nullCount: nullCount, min: min, max: max, mean: count > 0 ? mean : nil,
            standardDeviation: count > 1 ? (squares / Double(count - 1)).squareRoot() : nil,
            p50: Self.quantile(0.50, of: sorted), p95: Self.quantile(0.95, of: sorted),
            areQuantilesExact: count <= Limits.windowValuesMax)
    }

    private static func quantile(_ part: Double, of sorted: [Double]) -> Double? {
        guard !sorted.isEmpty else { return nil }
        let place = Int((part * Double(sorted.count)).rounded(.up))
        return sorted[Swift.min(Swift.max(place, 1), sorted.count) - 1]
    }
}
