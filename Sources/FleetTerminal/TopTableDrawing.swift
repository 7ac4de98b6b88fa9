import Collector

/// The rows of a view that a screen has room for: filtered, sorted, with one that is marked.
struct TopTableDrawing {
    private(set) var place: TopScreen.Place
    private(set) var lines: [String] = []

    /// - Parameters:
    ///   - place: where one was; the marked row is looked for by its name.
    ///   - space: lines for rows, without the header.
    init(
        rows: any TopRows, columns: [TopColumn], place: TopScreen.Place, filter: String,
        width: Int, space: Int, hasColours: Bool, emptiness: String
    ) {
        self.place = place
        let order = Self.ordered(rows, place, filter)
        settle(order, rows, space)
        let visible = Array(order.dropFirst(self.place.top).prefix(space))
        let layout = Self.layout(rows, visible, columns, width)
        lines.append(header(columns, layout, width))
        guard !order.isEmpty else {
            let text = filter.isEmpty ? emptiness : "nothing matches \"\(filter)\""
            lines.append(PrintableText(text).fitted(to: max(width, 1)))
            return
        }
        for (index, row) in visible.enumerated() {
            let cells = rows.cells(row, layout.width)
            lines.append(
                rows.style(row).around(
                    Self.whole(layout.line(cells, columns), width),
                    isSelected: self.place.top + index == self.place.row, hasColours: hasColours))
        }
    }

    /// Those that the filter lets through, sorted; equals by their own order.
    private static func ordered(
        _ rows: any TopRows, _ place: TopScreen.Place, _ filter: String
    ) -> [Int] {
        let wanted = filter.lowercased()
        let glob = Glob("*\(wanted)*")
        let shown = (0..<rows.count).filter { row in
            wanted.isEmpty || rows.text(row).contains { glob.matches($0.lowercased()) }
        }
        let keys = shown.map { (row: $0, order: rows.order($0, by: place.column)) }
        let sorted = keys.sorted {
            if $0.order == $1.order { return $0.row < $1.row }
            return place.isDescending ? $1.order < $0.order : $0.order < $1.order
        }
        return sorted.map(\.row)
    }

    /// Finds the marked row again, and sees to it that it is on the screen.
    private mutating func settle(_ order: [Int], _ rows: any TopRows, _ space: Int) {
        if let selected = place.selected,
            let row = order.firstIndex(where: { rows.id($0) == selected })
        {
            place.row = row
        }
        place.row = min(max(place.row, 0), max(order.count - 1, 0))
        place.selected = order.indices.contains(place.row) ? rows.id(order[place.row]) : nil
        place.top = min(place.top, place.row)
        if place.row >= place.top + space { place.top = place.row - space + 1 }
        place.top = max(min(place.top, order.count - space), 0)
    }

    private static func layout(
        _ rows: any TopRows, _ visible: [Int], _ columns: [TopColumn], _ width: Int
    ) -> TopLayout {
        var wanted = columns.map { $0.title.count }
        var empty = visible.isEmpty ? [] : Set(columns.indices)
        for row in visible {
            for (index, cell) in rows.cells(row, { _ in 0 }).enumerated() where !cell.isEmpty {
                wanted[index] = max(wanted[index], PrintableText(cell).width)
                empty.remove(index)
            }
        }
        return TopLayout(columns, wanted: wanted, empty: empty, width: width)
    }

    /// The header, with an arrow at the column that is sorted by.
    private func header(_ columns: [TopColumn], _ layout: TopLayout, _ width: Int) -> String {
        let titles = columns.enumerated().map { index, column in
            index == place.column ? column.title + (place.isDescending ? "▼" : "▲") : column.title
        }
        return "\u{1b}[1m\(Self.whole(layout.line(titles, columns), width))\u{1b}[0m"
    }

    /// Never wider than the terminal, however narrow that is.
    private static func whole(_ line: String, _ width: Int) -> String {
        PrintableText(line).fitted(to: max(width, 1))
    }
}
