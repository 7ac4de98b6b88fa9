import Collector
import Fleet

/// A snapshot as plain text: what `rivulet top` writes where there is no terminal.
public enum TopReport {
    /// - Parameter width: of a line; longer ones are not cut, shorter tables are not stretched.
    public static func text(_ snapshot: FleetSnapshot, width: Int) -> String {
        let names = TopNames(snapshot)
        let tables: [(TopView, any TopRows)] = [
            (.nodes, NodeRows(snapshot, names)),
            (.channels, ChannelRows(snapshot, names, TopHistory(), of: nil)),
            (.links, LinkRows(snapshot.links, names)),
            (.outputs, OutputRows(outputs: snapshot.outputs)),
            (.alarms, AlarmRows(alarms: snapshot.alarms, utc: snapshot.collector.utc)),
            (.drops, DropRows(drops: snapshot.collector.drops, growth: [:])),
        ]
        let own = snapshot.collector
        let title = PrintableText("\(own.name) in \(own.network)").text
        return title + "\n"
            + tables.filter { $0.1.count > 0 }.map { "\n" + table($0.0, $0.1, width) }.joined()
    }

    private static func table(_ view: TopView, _ rows: any TopRows, _ width: Int) -> String {
        let all = view.columns
        // Lines of what came need time.
        let isShown = all.map { $0.title != "HISTORY" }
        let columns = zip(all, isShown).filter(\.1).map(\.0)
        let cells = (0..<rows.count).map { row in
            zip(rows.cells(row) { _ in 0 }, isShown).filter(\.1).map(\.0)
        }
        let wanted = columns.indices.map { index in
            cells.reduce(columns[index].title.count) {
                max($0, PrintableText($1[index]).width)
            }
        }
        let layout = TopLayout(columns, wanted: wanted, width: width)
        return ([columns.map(\.title)] + cells).map { row in
            trimmed(layout.line(row, columns)) + "\n"
        }.joined()
    }

    private static func trimmed(_ line: String) -> String {
        guard let last = line.utf8.lastIndex(where: { $0 != UInt8(ascii: " ") }) else { return "" }
        return String(decoding: line.utf8[...last], as: UTF8.self)
    }
}
