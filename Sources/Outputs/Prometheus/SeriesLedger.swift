import Fleet
import NearbyCore
import Telemetry

extension Limits {
    /// Series whose end a server is told of; further ones end by themselves.
    static let liveSeriesMax = 100_000
}

/// Which series have a value at a server of Prometheus' kind, so that they can be marked stale when
/// they end: with a rename, other labels or another unit, or with their node. Without a mark they
/// would be answered for five minutes more.
public struct SeriesLedger: Sendable {
    private struct Source: Hashable {
        var run: RunID
        var number: UInt16
    }

    private struct Live {
        var source: Source
        /// Of the newest sample, milliseconds since 1970.
        var time: Int64
    }

    private struct NodeSeries {
        /// Of the newest readings: all labels but the channel's.
        var labels: [MetricLabels.Pair] = []
        var series: [[MetricLabels.Pair]: Live] = [:]
    }

    private var nodes: [PeerID: NodeSeries] = [:]
    private var count = 0
    private var ended: [RemoteSeries] = []

    /// For so long a server answers with a value.
    private static let lookback: Int64 = 300_000

    /// Newer samples may have come after a snapshot in which their node was out of reach.
    private static let newsAge: Int64 = 5_000

    public init() {}

    /// Marks that are to be written; they are given once.
    public mutating func takeEnded() -> [RemoteSeries] {
        defer { ended = [] }
        return ended
    }

    /// The batch was written. Late readings end nothing: they say how it was.
    public mutating func apply(_ batch: OutputBatch) {
        var newest: [Int: OutputReading] = [:]
        for reading in batch.readings where batch.series.indices.contains(reading.series) {
            if let other = newest[reading.series], other.utc > reading.utc { continue }
            newest[reading.series] = reading
        }
        for (index, reading) in newest.sorted(by: { $0.key < $1.key }) {
            apply(reading, of: batch.series[index], isHistorical: batch.isHistorical)
        }
    }

    /// Nodes that went, and series that the server has forgotten.
    public mutating func apply(_ fleet: FleetSnapshot) {
        let now = fleet.collector.utc / 1_000_000
        for seen in fleet.nodes {
            guard var node = nodes[seen.peer] else { continue }
            let former = node.series.count
            if !seen.isOnline {
                end(&node) { now.subtractingSaturating($1.time) >= Self.newsAge }
            }
            node.series = node.series.filter {
                now.subtractingSaturating($0.value.time) < Self.lookback
            }
            count -= former - node.series.count
            nodes[seen.peer] = node.series.isEmpty ? nil : node
        }
    }

    // MARK: Parts

    private mutating func apply(
        _ reading: OutputReading, of series: OutputSeries, isHistorical: Bool
    ) {
        let labels = RemoteWrite.labels(of: series)
        let own = labels.filter { $0.name != "__name__" && $0.name != "channel" }
        let source = Source(run: series.node.run, number: series.number)
        let time = RemoteWrite.milliseconds(reading.utc)
        var node = nodes[series.node.peer] ?? NodeSeries()
        let former = node.series.count
        if isHistorical, !node.labels.isEmpty, node.labels != own { return }
        if node.labels != own {
            end(&node) { labels, _ in
                labels.filter { $0.name != "__name__" && $0.name != "channel" } != own
            }
            node.labels = own
        }
        if node.series[labels] == nil, !isHistorical {
            end(&node) { $1.source == source }
        }
        if reading.outcome.value == nil {
            if time >= node.series[labels]?.time ?? .min { node.series[labels] = nil }
        } else if let known = node.series[labels] {
            node.series[labels] = Live(source: source, time: max(known.time, time))
        } else if count < Limits.liveSeriesMax {
            node.series[labels] = Live(source: source, time: time)
        }
        count += node.series.count - former
        nodes[series.node.peer] = node
    }

    /// A millisecond after its newest sample: whatever comes later is later than that.
    private mutating func end(
        _ node: inout NodeSeries, where isOver: ([MetricLabels.Pair], Live) -> Bool
    ) {
        let over = node.series.filter { isOver($0.key, $0.value) }
            .sorted { RemoteWrite.precedes($0.key, $1.key) }
        for (labels, live) in over {
            node.series[labels] = nil
            let (time, isPast) = live.time.addingReportingOverflow(1)
            guard !isPast, ended.count < Limits.liveSeriesMax else { continue }
            ended.append(
                RemoteSeries(
                    labels: labels,
                    samples: [.init(time: time, value: RemoteSeries.Sample.stale)]))
        }
    }
}
