import Collector
import Telemetry

/// What `Statistics` should say, computed the slow and plain way.
public struct SlowStatistics {
    private let values: [DecimalValue]
    private let nullCount: Int
    private let sorted: [Double]

    public init(_ readings: [Reading]) {
        values = readings.compactMap(\.outcome.value)
        nullCount = readings.count - values.count
        sorted = values.map(\.double).sorted()
    }

    /// What differs, by name; means and deviations may differ by 1e-9.
    public func differences(from statistics: Statistics) -> [String] {
        let checks: [(String, Bool)] = [
            ("count", statistics.count == values.count),
            ("nulls", statistics.nullCount == nullCount),
            ("min", statistics.min == values.min()),
            ("max", statistics.max == values.max()),
            ("mean", isNear(statistics.mean, mean)),
            ("p50", statistics.p50 == quantile(0.5)),
            ("p95", statistics.p95 == quantile(0.95)),
            ("deviation", isNear(statistics.standardDeviation, deviation)),
        ]
        return checks.filter { !$0.1 }.map(\.0)
    }

    private var mean: Double? {
        sorted.isEmpty ? nil : sorted.reduce(0, +) / Double(sorted.count)
    }

    private var deviation: Double? {
        guard let mean, sorted.count > 1 else { return nil }
        let squares = sorted.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
        return (squares / Double(sorted.count - 1)).squareRoot()
    }

    /// The smallest value that at least so many are no greater than.
    private func quantile(_ part: Double) -> Double? {
        sorted.first { candidate in
            Double(sorted.count { $0 <= candidate }) >= part * Double(sorted.count)
        }
    }

    private func isNear(_ left: Double?, _ right: Double?) -> Bool {
        guard let left, let right else { return left == nil && right == nil }
        return abs(left - right) < 1e-9
    }
}
