import Collector
import NearbyCore
import Telemetry

/// Rows out of the store as text: a table of at most 80 columns, comma-separated values (RFC 4180),
/// or a JSON object a line.
public struct StorePrinter: Sendable {
    public enum Format: String, CaseIterable, Sendable { case table, csv, json }

    private let format: Format
    private var hasHeader = false

    public init(_ format: Format) { self.format = format }

    /// A line for the reading, before the first one the header.
    public mutating func line(_ series: StoredSeries, _ reading: StoredReading) -> String {
        switch format {
        case .table:
            let value: String
            switch reading.outcome {
            case .value(let number): value = NumberText.compact(number, width: 12)
            case .null(let reason): value = reason.description
            }
            return table(
                ["TIME", "NODE", "CHANNEL", "VALUE", "UNIT", "HOP"],
                [
                    time(reading.utc, series), series.node, series.channel, value,
                    series.unit.symbol, String(reading.hops),
                ], [25, 11, 16, 12, 6, 3], rightAligned: [3, 5])
        case .csv:
            return record(
                [
                    "time", "clock", "peer", "node", "run", "sequence", "channel", "unit", "value",
                    "reason", "hops",
                ],
                [
                    reading.utc.map(UTCText.text) ?? "", clock(series), series.peer.description,
                    series.node, series.run.description, String(reading.sequence),
                    series.channel, series.unit.name, reading.outcome.value?.description ?? "",
                    reason(reading.outcome) ?? "", String(reading.hops),
                ])
        case .json:
            var writer = object(series, time: ("time", reading.utc))
            writer.add("sequence", raw: String(reading.sequence))
            writer.add("value", raw: reading.outcome.value?.description ?? "null")
            if let reason = reason(reading.outcome) { writer.add("reason", string: reason) }
            writer.add("hops", raw: String(reading.hops))
            return writer.text + "\n"
        }
    }

    /// A line for the window, before the first one the header.
    public mutating func line(_ series: StoredSeries, _ window: StoredWindow) -> String {
        switch format {
        case .table: tableLine(series, window)
        case .csv: csvLine(series, window)
        case .json: jsonLine(series, window)
        }
    }

    public mutating func line(_ gap: StoredGap) -> String {
        let range = gap.gap.range
        let first = String(range.lowerBound)
        let count = gap.gap.isOpen ? nil : String(range.upperBound - range.lowerBound)
        let reason = gap.gap.reason.description
        switch format {
        case .table:
            return table(
                ["NODE", "RUN", "FIRST", "COUNT", "REASON"],
                [gap.node, gap.gap.run.description, first, count ?? "unknown", reason],
                [20, 16, 12, 12, 12],
                rightAligned: [2, 3])
        case .csv:
            return record(
                ["peer", "node", "run", "first", "count", "reason"],
                [
                    gap.peer.description, gap.node, gap.gap.run.description, first, count ?? "",
                    reason,
                ])
        case .json:
            var writer = JSONObjectWriter()
            writer.add("peer", string: gap.peer.description)
            writer.add("node", string: gap.node)
            writer.add("run", string: gap.gap.run.description)
            writer.add("first", raw: first)
            writer.add("count", raw: count ?? "null")
            writer.add("reason", string: reason)
            return writer.text + "\n"
        }
    }

    public mutating func line(_ run: StoredRunSummary) -> String {
        let (first, last) = (run.first.map(UTCText.text) ?? "", run.last.map(UTCText.text) ?? "")
        let settled = String(run.settledCount)
        switch format {
        case .table:
            let mark = run.rank == ClockRank.none ? "~" : ""
            let second = { (text: String) in String((mark + text).prefix(mark.count + 19)) }
            return table(
                ["NODE", "RUN", "FIRST", "LAST", "SETTLED"],
                [run.node, run.run.description, second(first), second(last), settled],
                [12, 16, 20, 20, 8], rightAligned: [4])
        case .csv:
            return record(
                [
                    "peer", "node", "run", "boot", "clock", "first", "last", "channels", "settled",
                ],
                [
                    run.peer.description, run.node, run.run.description, run.boot.description,
                    run.rank?.name ?? "unknown", first, last, String(run.channelCount),
                    settled,
                ])
        case .json:
            var writer = JSONObjectWriter()
            writer.add("peer", string: run.peer.description)
            writer.add("node", string: run.node)
            writer.add("run", string: run.run.description)
            writer.add("boot", string: run.boot.description)
            writer.add("clock", string: run.rank?.name ?? "unknown")
            if run.first != nil { writer.add("first", string: first) }
            if run.last != nil { writer.add("last", string: last) }
            writer.add("channels", raw: String(run.channelCount))
            writer.add("settled", raw: settled)
            return writer.text + "\n"
        }
    }

    // MARK: Windows

    private mutating func tableLine(_ series: StoredSeries, _ window: StoredWindow) -> String {
        let statistics = window.statistics
        let places = NumberText.meanPlaces(
            scale: series.scale, statistics.min, statistics.max, window.last.value)
        let decimal = { (value: DecimalValue?) in
            value.map { NumberText.compact($0, width: 8) } ?? "-"
        }
        let lost = window.expected.flatMap { expected in
            window.received.map { String(max(0, expected.subtractingSaturating($0))) }
        }
        return table(
            ["START", "NODE", "CHANNEL", "MEAN", "MIN", "MAX", "N", "LOST"],
            [
                time(window.start, series), series.node, series.channel,
                statistics.mean.map { NumberText.compact($0, places: places, width: 8) } ?? "-",
                decimal(statistics.min), decimal(statistics.max),
                NumberText.count(statistics.count, width: 5), lost ?? "",
            ], [21, 9, 10, 8, 8, 8, 5, 4], rightAligned: [3, 4, 5, 6, 7])
    }

    private mutating func csvLine(_ series: StoredSeries, _ window: StoredWindow) -> String {
        let statistics = window.statistics
        return record(
            [
                "start", "width", "clock", "peer", "node", "run", "channel", "unit", "count",
                "nulls", "min", "mean", "max", "last", "reason", "deviation", "p50", "p95",
                "expected", "received", "hops",
            ],
            [
                UTCText.text(window.start), CSVPrinter.number(seconds(window)), clock(series),
                series.peer.description, series.node, series.run.description, series.channel,
                series.unit.name, String(statistics.count), String(statistics.nullCount),
                statistics.min?.description ?? "", CSVPrinter.number(statistics.mean),
                statistics.max?.description ?? "", window.last.value?.description ?? "",
                reason(window.last) ?? "", CSVPrinter.number(statistics.standardDeviation),
                CSVPrinter.number(statistics.p50), CSVPrinter.number(statistics.p95),
                window.expected.map(String.init) ?? "", window.received.map(String.init) ?? "",
                String(window.hops),
            ])
    }

    private func jsonLine(_ series: StoredSeries, _ window: StoredWindow) -> String {
        let statistics = window.statistics
        var writer = object(series, time: ("start", window.start))
        writer.add("width", number: seconds(window))
        writer.add("count", raw: String(statistics.count))
        writer.add("nulls", raw: String(statistics.nullCount))
        writer.add("min", raw: statistics.min?.description ?? "null")
        writer.add("mean", number: statistics.mean)
        writer.add("max", raw: statistics.max?.description ?? "null")
        writer.add("last", raw: window.last.value?.description ?? "null")
        if let reason = reason(window.last) { writer.add("reason", string: reason) }
        writer.add("deviation", number: statistics.standardDeviation)
        writer.add("p50", number: statistics.p50)
        writer.add("p95", number: statistics.p95)
        writer.add("exact", raw: statistics.areQuantilesExact ? "true" : "false")
        if let expected = window.expected, let received = window.received {
            writer.add("expected", raw: String(expected))
            writer.add("received", raw: String(received))
        }
        writer.add("hops", raw: String(window.hops))
        return writer.text + "\n"
    }

    // MARK: Parts

    private func seconds(_ window: StoredWindow) -> Double {
        Double(window.width.nanoseconds) / 1e9
    }

    private func reason(_ outcome: Outcome) -> String? {
        if case .null(let reason) = outcome { return reason.description }
        return nil
    }

    private func clock(_ series: StoredSeries) -> String { series.rank?.name ?? "unknown" }

    /// `~` marks an estimate.
    private func time(_ utc: Int64?, _ series: StoredSeries) -> String {
        guard let utc, let rank = series.rank else { return "unknown" }
        return (rank == ClockRank.none ? "~" : "") + UTCText.text(utc)
    }

    private func object(
        _ series: StoredSeries, time: (key: String, utc: Int64?)
    ) -> JSONObjectWriter {
        var writer = JSONObjectWriter()
        if let utc = time.utc {
            writer.add(time.key, string: UTCText.text(utc))
        } else {
            writer.add(time.key, raw: "null")
        }
        writer.add("clock", string: clock(series))
        writer.add("peer", string: series.peer.description)
        writer.add("node", string: series.node)
        writer.add("run", string: series.run.description)
        writer.add("channel", string: series.channel)
        writer.add("unit", string: series.unit.name)
        return writer
    }

    private mutating func table(
        _ header: [String], _ fields: [String], _ widths: [Int], rightAligned: Set<Int>
    ) -> String {
        let line = { (cells: [String]) in
            var text = ""
            for (index, (cell, width)) in zip(cells, widths).enumerated() {
                if index > 0 { text += " " }
                let isRight = rightAligned.contains(index)
                text += PrintableText(cell).fitted(to: width, alignRight: isRight)
            }
            while text.utf8.last == UInt8(ascii: " ") { text.removeLast() }
            return text + "\n"
        }
        defer { hasHeader = true }
        return (hasHeader ? "" : line(header)) + line(fields)
    }

    private mutating func record(_ header: [String], _ fields: [String]) -> String {
        defer { hasHeader = true }
        return (hasHeader ? "" : CSVPrinter.record(header)) + CSVPrinter.record(fields)
    }
}
