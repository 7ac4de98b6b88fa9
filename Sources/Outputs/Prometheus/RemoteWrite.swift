import NearbyCore
import Telemetry

/// A series with its samples, as remote write has them.
public struct RemoteSeries: Hashable, Sendable {
    public struct Sample: Hashable, Sendable {
        /// Milliseconds since 1970.
        public var time: Int64
        public var value: Double

        /// What says that a series has no value now: it ends there, not five minutes later
        /// (a NaN that Prometheus gives this meaning).
        public static let stale = Double(bitPattern: 0x7ff0_0000_0000_0002)
    }

    /// With `__name__`; ascending by name, bytewise.
    public let labels: [MetricLabels.Pair]
    /// Ascending by time, no time twice.
    public var samples: [Sample]
}

/// Readings as requests of Prometheus' remote write 1.0: protobuf's `WriteRequest`, compressed by
/// Snappy.
///
///     WriteRequest { 1: TimeSeries… }
///     TimeSeries   { 1: Label…, 2: Sample… }
///     Label        { 1: name, 2: value }
///     Sample       { 1: value, double; 2: milliseconds since 1970, int64 }
public enum RemoteWrite {
    /// Readings of all runs of a channel in one series, in the order that the server wants.
    ///
    /// - Returns: the series in the order of their labels; and how many readings have no place in
    ///   one, because another was measured in the same millisecond.
    public static func series(of batch: OutputBatch) -> (series: [RemoteSeries], left: Int) {
        let heads = batch.series.map { Head($0) }
        var places: [[MetricLabels.Pair]: Int] = [:]
        let place = heads.map { head in
            let next = places.count
            let found = places[head.labels, default: next]
            places[head.labels] = found
            return found
        }
        // By time; of several in a millisecond the last one stands.
        var samples = [[Int64: (sequence: UInt64, value: Double)]](
            repeating: [:], count: places.count)
        var left = 0
        for reading in batch.readings where heads.indices.contains(reading.series) {
            guard let value = heads[reading.series].value(reading.outcome) else {
                left += 1
                continue
            }
            let time = milliseconds(reading.utc)
            let index = place[reading.series]
            let other = samples[index][time]
            if other != nil { left += 1 }
            if let other, other.sequence > reading.sequence { continue }
            samples[index][time] = (reading.sequence, value)
        }
        let series = places.map { labels, index in
            RemoteSeries(
                labels: labels,
                samples: samples[index].map { .init(time: $0.key, value: $0.value.value) }
                    .sorted { $0.time < $1.time })
        }
        let filled = series.filter { !$0.samples.isEmpty }
        return (filled.sorted { precedes($0.labels, $1.labels) }, left)
    }

    /// The body of a request: `Content-Encoding: snappy`.
    public static func request(_ series: [RemoteSeries]) -> HTTPRequest {
        HTTPRequest(
            contentType: "application/x-protobuf",
            headers: ["Content-Encoding: snappy", "X-Prometheus-Remote-Write-Version: 0.1.0"],
            body: Snappy.compress(message(series)))
    }

    static func message(_ series: [RemoteSeries]) -> [UInt8] {
        var request = ProtobufWriter()
        for one in series {
            request.write(1) { message in
                for label in one.labels {
                    message.write(1) { pair in
                        pair.write(1, text: label.name)
                        pair.write(2, text: label.value)
                    }
                }
                for sample in one.samples {
                    message.write(2) { pair in
                        pair.write(1, double: sample.value)
                        pair.write(2, integer: sample.time)
                    }
                }
            }
        }
        return request.bytes
    }

    // MARK: Parts

    private struct Head {
        let labels: [MetricLabels.Pair]
        private let unit: MetricUnit

        init(_ series: OutputSeries) {
            let name = MetricName(channel: series.channel, unit: series.unit)
            unit = name.unit
            labels =
                [MetricLabels.Pair(name: "__name__", value: name.text)]
                + MetricLabels(series).pairs
        }

        /// Nil for a number that is too large in the base unit.
        func value(_ outcome: Outcome) -> Double? {
            guard let value = outcome.value else { return RemoteSeries.Sample.stale }
            return unit.convert(value)?.double
        }
    }

    /// Of the series that a channel is.
    static func labels(of series: OutputSeries) -> [MetricLabels.Pair] { Head(series).labels }

    static func milliseconds(_ utc: Int64) -> Int64 {
        let (quotient, remainder) = utc.quotientAndRemainder(dividingBy: 1_000_000)
        return remainder < 0 ? quotient - 1 : quotient
    }

    static func precedes(
        _ left: [MetricLabels.Pair], _ right: [MetricLabels.Pair]
    ) -> Bool {
        left.lexicographicallyPrecedes(right) { ($0.name, $0.value) < ($1.name, $1.value) }
    }
}
