import Collector
import NearbyCore
import Telemetry

/// Rows out of the store as text: a table, comma-separated values (RFC 4180), or a JSON object a
/// line. deploy/readings-json.md describes the last two.
public struct StorePrinter: Sendable {
    public enum Format: String, CaseIterable, Sendable { case table, csv, json }

    private let format: Format
    private let times: ShownTimes
    private let width: Int
    private var hasHeader = false

    /// - Parameters:
    ///   - times: of tables; the other formats have UTC.
    ///   - width: of tables, 80 columns and more.
    public init(_ format: Format, times: ShownTimes = .utc, width: Int = 80) {
        self.format = format
        self.times = times
        self.width = width
    }

    /// The header, if the format has one. The first line brings it along unless it was asked for
    /// before, as it must be where there may be no line.
    public mutating func header(_ rows: StoreRows) -> String {
        guard !hasHeader else { return "" }
        hasHeader = true
        switch format {
        case .table: return table(rows, rows.table.map { $0.title(times) })
        case .csv: return CSVPrinter.record(rows.csvColumns)
        case .json: return ""
        }
    }

    public mutating func line(_ series: StoredSeries, _ reading: StoredReading) -> String {
        let reason = reason(reading.outcome)
        switch format {
        case .table:
            let unit = ScaledUnit(series.unit, [reading.outcome.value])
            return header(.readings)
                + table(
                    .readings,
                    [
                        time(reading.utc, series), series.node, series.channel,
                        reading.outcome.value.map { unit.text($0, width: 14) } ?? reason ?? "",
                        unit.symbol, String(reading.hops),
                    ])
        case .csv:
            return header(.readings)
                + CSVPrinter.record([
                    reading.utc.map(UTCText.text) ?? "", clock(series), series.peer.description,
                    series.run.description, series.node, series.channel, series.unit.name,
                    String(reading.sequence), reading.outcome.value?.description ?? "",
                    reason ?? "", String(reading.hops), WindowRecord.csv(series.labels),
                ])
        case .json:
            var writer = JSONObjectWriter()
            writer.add("time", string: reading.utc.map(UTCText.text))
            writer.add("clock", string: clock(series))
            writer.add("peer", string: series.peer.description)
            writer.add("run", string: series.run.description)
            writer.add("node", string: series.node)
            writer.add("labels", series.labels)
            writer.add("channel", string: series.channel)
            writer.add("unit", string: series.unit.name)
            writer.add("sequence", integer: reading.sequence)
            writer.add("value", decimal: reading.outcome.value)
            writer.add("reason", string: reason)
            writer.add("hops", integer: UInt64(reading.hops))
            return writer.text + "\n"
        }
    }

    public mutating func line(_ series: StoredSeries, _ window: StoredWindow) -> String {
        let rows = StoreRows(windowsOf: window.width)
        switch format {
        case .table: return header(rows) + table(rows, cells(series, window, in: rows))
        case .csv: return header(rows) + CSVPrinter.record(record(series, window).csv)
        case .json: return record(series, window).json + "\n"
        }
    }

    public mutating func line(_ gap: StoredGap) -> String {
        let range = gap.gap.range
        // Of an open one nobody knows where it ends.
        let count = gap.gap.isOpen ? nil : range.upperBound - range.lowerBound
        let reason = gap.gap.reason.description
        let run = gap.gap.run.description
        switch format {
        case .table:
            return header(.gaps)
                + table(
                    .gaps,
                    [
                        gap.node, run, String(range.lowerBound),
                        count.map(String.init) ?? "unknown", reason,
                    ])
        case .csv:
            return header(.gaps)
                + CSVPrinter.record([
                    gap.peer.description, run, gap.node, String(range.lowerBound),
                    count.map(String.init) ?? "",
                    reason,
                ])
        case .json:
            var writer = JSONObjectWriter()
            writer.add("peer", string: gap.peer.description)
            writer.add("run", string: run)
            writer.add("node", string: gap.node)
            writer.add("sequence", integer: range.lowerBound)
            writer.add("count", integer: count)
            writer.add("reason", string: reason)
            return writer.text + "\n"
        }
    }

    public mutating func line(_ run: StoredRunSummary) -> String {
        let (from, to) = (run.first.map(UTCText.text), run.last.map(UTCText.text))
        let clock = run.rank?.name ?? "unknown"
        switch format {
        case .table:
            let (first, last) = (second(run.first, run), second(run.last, run))
            return header(.runs)
                + table(
                    .runs,
                    [
                        run.node, run.run.description, first, last,
                        String(run.settledCount),
                    ])
        case .csv:
            return header(.runs)
                + CSVPrinter.record([
                    run.peer.description, run.run.description, run.node, run.boot.description,
                    clock, from ?? "", to ?? "", String(run.channelCount),
                    String(run.settledCount),
                ])
        case .json:
            var writer = JSONObjectWriter()
            writer.add("peer", string: run.peer.description)
            writer.add("run", string: run.run.description)
            writer.add("node", string: run.node)
            writer.add("boot", string: run.boot.description)
            writer.add("clock", string: clock)
            writer.add("from", string: from)
            writer.add("to", string: to)
            writer.add("channels", integer: UInt64(max(run.channelCount, 0)))
            writer.add("settled", integer: run.settledCount)
            return writer.text + "\n"
        }
    }

    // MARK: Windows

    private func cells(
        _ series: StoredSeries, _ window: StoredWindow, in rows: StoreRows
    ) -> [String] {
        let hasFraction = rows == .fineWindows
        let statistics = window.statistics
        let places = NumberText.meanPlaces(
            scale: series.scale, statistics.min, statistics.max, window.last.value)
        let unit = ScaledUnit(series.unit, [statistics.min, statistics.max])
        let decimal = { (value: DecimalValue?) in
            value.map { unit.text($0, width: 7) } ?? "-"
        }
        return [
            time(window.start, series, hasFraction: hasFraction), series.node, series.channel,
            statistics.mean.map { unit.mean($0, places: places, width: 8) } ?? "-",
            decimal(statistics.min), decimal(statistics.max), unit.symbol,
            NumberText.count(statistics.count, width: 3),
            window.lostCount.map { NumberText.count(Int(clamping: $0), width: 4) } ?? "",
        ]
    }

    private func record(_ series: StoredSeries, _ window: StoredWindow) -> WindowRecord {
        var record = WindowRecord(
            start: UTCText.text(window.start), width: window.width, clock: clock(series),
            peer: series.peer, run: series.run, node: series.node, channel: series.channel,
            unit: series.unit, statistics: window.statistics, last: window.last, hops: window.hops)
        record.labels = series.labels
        record.lostCount = window.lostCount
        return record
    }

    // MARK: Parts

    private func reason(_ outcome: Outcome) -> String? {
        if case .null(let reason) = outcome { return reason.description }
        return nil
    }

    private func clock(_ series: StoredSeries) -> String { series.rank?.name ?? "unknown" }

    /// `~` marks an estimate.
    private func time(
        _ utc: Int64?, _ series: StoredSeries, hasFraction: Bool = false
    ) -> String {
        guard let utc, let rank = series.rank else { return "unknown" }
        return (rank == ClockRank.none ? "~" : "") + times.text(utc, hasFraction: hasFraction)
    }

    /// As `time`, without a fraction.
    private func second(_ utc: Int64?, _ run: StoredRunSummary) -> String {
        let mark = run.rank == ClockRank.none ? "~" : ""
        return utc.map { mark + String(times.text($0).prefix(19)) } ?? "unknown"
    }

    /// Names share what the terminal has beyond 80 columns, and are shortened in the middle. A time
    /// is never cut.
    private func table(_ rows: StoreRows, _ cells: [String]) -> String {
        let spare = max(width - 80, 0) / max(rows.table.count { $0.isName }, 1)
        var line = ""
        for (cell, column) in zip(cells, rows.table) {
            if !line.isEmpty { line += " " }
            let width = column.width + (column.isName ? min(spare, 48) : 0)
            var text = PrintableText(cell)
            if text.width > width {
                text =
                    column.isName
                    ? PrintableText(text.shortened(to: width, head: (width - 1) / 2)) : text
                line += column.isTime ? text.text : text.fitted(to: width)
            } else {
                line += text.fitted(to: width, alignRight: column.isRight)
            }
        }
        while line.utf8.last == UInt8(ascii: " ") { line.removeLast() }
        return line + "\n"
    }
}
