import NearbyCore
import Telemetry

/// A window of one channel as programs read it, the same from `collect` and from `query`: a JSON
/// object or a CSV record. deploy/readings-json.md describes it.
package struct WindowRecord {
    /// RFC 3339, UTC.
    package var start: String
    package var width: Duration
    var isClosed = true
    /// What the time rests on: a `ClockRank`'s name, or `unknown`.
    package var clock: String
    package var peer: PeerID
    package var run: RunID
    package var node: String
    package var labels: [Label] = []
    package var channel: String
    package var unit: Unit
    package var statistics: Statistics
    package var last: Outcome
    /// Of `last`, when the window was printed; nil out of a store.
    package var age: Duration?
    /// Of the run, all channels; nil where nobody counted.
    package var lostCount: UInt64?
    /// Nil out of a store: there late readings are in their windows.
    var lateCount: Int?
    package var hops: UInt8

    package init(
        start: String, width: Duration, clock: String, peer: PeerID, run: RunID, node: String,
        channel: String, unit: Unit, statistics: Statistics, last: Outcome, hops: UInt8
    ) {
        self.start = start
        self.width = width
        self.clock = clock
        self.peer = peer
        self.run = run
        self.node = node
        self.channel = channel
        self.unit = unit
        self.statistics = statistics
        self.last = last
        self.hops = hops
    }

    init(_ row: Window.Row, of window: Window, clock: ShownClock) {
        self.init(
            start: clock.timestamp(window.start), width: window.width, clock: row.rank.name,
            peer: row.peer, run: row.run, node: row.node.name, channel: row.channel.name,
            unit: row.channel.unit, statistics: row.statistics, last: row.last, hops: row.hops)
        isClosed = window.isClosed
        labels = row.node.labels
        age = row.age
        lostCount = row.lostCount
        lateCount = row.lateCount
    }

    /// Readings with a value, a second.
    private var rate: Double {
        let nanoseconds = Double(max(width.nanoseconds, 1))
        return Double(statistics.count) * 1e9 / nanoseconds
    }

    private var reason: String? {
        if case .null(let reason) = last { return reason.description }
        return nil
    }

    /// Without a newline.
    package var json: String {
        var writer = JSONObjectWriter()
        writer.add("start", string: start)
        writer.add("width", number: Double(width.nanoseconds) / 1e9)
        writer.add("closed", flag: isClosed)
        writer.add("clock", string: clock)
        writer.add("peer", string: peer.description)
        writer.add("run", string: run.description)
        writer.add("node", string: node)
        writer.add("labels", labels)
        writer.add("channel", string: channel)
        writer.add("unit", string: unit.name)
        writer.add("count", integer: UInt64(max(statistics.count, 0)))
        writer.add("nulls", integer: UInt64(max(statistics.nullCount, 0)))
        writer.add("rate", number: rate)
        writer.add("last", decimal: last.value)
        writer.add("reason", string: reason)
        writer.add("min", decimal: statistics.min)
        writer.add("mean", number: statistics.mean)
        writer.add("max", decimal: statistics.max)
        writer.add("deviation", number: statistics.standardDeviation)
        writer.add("p50", number: statistics.p50)
        writer.add("p95", number: statistics.p95)
        writer.add("exact", flag: statistics.areQuantilesExact)
        writer.add("age", number: age.map { Double($0.milliseconds) / 1_000 })
        writer.add("lost", integer: lostCount)
        writer.add("late", integer: lateCount.map { UInt64(max($0, 0)) })
        writer.add("hops", integer: UInt64(hops))
        return writer.text
    }

    /// The names of `csv`'s fields: the keys of `json`; `labels` is the last one.
    package static let csvColumns = [
        "start", "width", "closed", "clock", "peer", "run", "node", "channel", "unit", "count",
        "nulls", "rate", "last", "reason", "min", "mean", "max", "deviation", "p50", "p95",
        "exact", "age", "lost", "late", "hops", "labels",
    ]

    /// As in `json`, an object; empty if there are none.
    package static func csv(_ labels: [Label]) -> String {
        guard !labels.isEmpty else { return "" }
        var object = JSONObjectWriter()
        for label in labels { object.add(label.key, string: label.value) }
        return object.text
    }

    package var csv: [String] {
        [
            start, CSVPrinter.number(Double(width.nanoseconds) / 1e9),
            isClosed ? "true" : "false", clock, peer.description, run.description, node, channel,
            unit.name, String(statistics.count), String(statistics.nullCount),
            CSVPrinter.number(rate), last.value?.description ?? "", reason ?? "",
            statistics.min?.description ?? "", CSVPrinter.number(statistics.mean),
            statistics.max?.description ?? "", CSVPrinter.number(statistics.standardDeviation),
            CSVPrinter.number(statistics.p50), CSVPrinter.number(statistics.p95),
            statistics.areQuantilesExact ? "true" : "false",
            CSVPrinter.number(age.map { Double($0.milliseconds) / 1_000 }),
            lostCount.map(String.init) ?? "", lateCount.map(String.init) ?? "", String(hops),
            Self.csv(labels),
        ]
    }
}
