import Collector
import Fleet
import NearbyCore
import Store
import Telemetry

/// Puts windows or readings of one channel together into no more points than a chart has room for.
/// Each unit is a line of its own: a channel may have had another in an earlier run.
struct ChartBuilder {
    private struct Bucket {
        var count = 0
        var sum = 0.0
        var min = Double.infinity
        var max = -Double.infinity
        var nullCount = 0
    }

    private struct Line {
        var unit: Unit
        var scale: Int8
        var buckets: [Int: Bucket] = [:]
    }

    let range: TimeRange
    /// Nanoseconds that a point covers.
    let step: Int64
    private var lines: [Line] = []
    private var shownSeries: ShownSeries

    /// - Parameters:
    ///   - points: from 1.
    ///   - width: of what is added, nanoseconds; no point covers less.
    init(_ range: TimeRange, points: Int, width: Int64 = 1, words: FleetWords = .none) {
        self.range = range
        shownSeries = ShownSeries(words)
        let length = max(1, range.length)
        let points = Int64(max(1, points))
        let even = (length + points - 1) / points
        // Whole windows, so that no point has half of one.
        let width = max(1, width)
        step = (even + width - 1) / width * width
    }

    mutating func add(_ series: StoredSeries, _ window: StoredWindow) {
        let (series, map) = shownSeries.shown(series)
        let statistics = map(window.statistics)
        add(
            series.unit, series.scale, at: window.start,
            Bucket(
                count: statistics.count, sum: (statistics.mean ?? 0) * Double(statistics.count),
                min: statistics.min?.double ?? .infinity,
                max: statistics.max?.double ?? -.infinity, nullCount: statistics.nullCount))
    }

    mutating func add(_ series: StoredSeries, _ reading: StoredReading) {
        guard let utc = reading.utc else { return }
        let (series, map) = shownSeries.shown(series)
        guard let value = map(reading.outcome).value?.double else {
            return add(series.unit, series.scale, at: utc, Bucket(nullCount: 1))
        }
        add(
            series.unit, series.scale, at: utc,
            Bucket(count: 1, sum: value, min: value, max: value))
    }

    private mutating func add(_ unit: Unit, _ scale: Int8, at utc: Int64, _ part: Bucket) {
        // A window that began before the range belongs to its first point.
        let time = max(utc, range.from)
        guard time < range.to else { return }
        let line =
            lines.firstIndex { $0.unit == unit }
            ?? {
                lines.append(Line(unit: unit, scale: scale))
                return lines.count - 1
            }()
        let place = Int((time - range.from) / step)
        var bucket = lines[line].buckets[place] ?? Bucket()
        bucket.count += part.count
        bucket.sum += part.sum
        bucket.min = Swift.min(bucket.min, part.min)
        bucket.max = Swift.max(bucket.max, part.max)
        bucket.nullCount += part.nullCount
        lines[line].buckets[place] = bucket
    }

    // MARK: JSON

    /// The members `from`, `to`, `step` (milliseconds) and `lines`: each a unit and its points, of
    /// time, least, mean, greatest, count of values and of readings without one.
    func write(_ json: inout JSONText) {
        json.add("from", range.from / 1_000_000)
        json.add("to", range.to / 1_000_000)
        json.add("step", number: Double(step) / 1e6)
        json.key("lines")
        json.array(lines) { json, line in
            json.object { json in
                json.add("unit", line.unit.name)
                json.add("symbol", line.unit.symbol)
                json.add("digits", max(0, -Int(line.scale)))
                json.key("points")
                json.array(line.buckets.sorted { $0.key < $1.key }) { json, entry in
                    let time = range.from + Int64(entry.key) * step
                    write(&json, time, entry.value)
                }
            }
        }
    }

    private func write(_ json: inout JSONText, _ time: Int64, _ bucket: Bucket) {
        json.array { json in
            json.integer(time / 1_000_000)
            if bucket.count > 0 {
                json.number(bucket.min)
                json.number(bucket.sum / Double(bucket.count))
                json.number(bucket.max)
            } else {
                for _ in 0..<3 { json.null() }
            }
            json.integer(bucket.count)
            json.integer(bucket.nullCount)
        }
    }
}
