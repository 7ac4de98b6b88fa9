import NearbyCore

/// Which rows of a window a screen has room for, node by node: nodes with few rows show all of
/// them, the others as many as are left, and a line that sums up the rest.
struct TableSpace {
    /// The rows of one run of a node, and how many of them are shown.
    struct Part: Hashable {
        var rows: Range<Int>
        var shownCount: Int

        var hidden: Range<Int> { rows.dropFirst(shownCount).indices }
    }

    /// Those that have at least one line.
    private(set) var parts: [Part] = []
    /// Nodes for which not even a line is left.
    private(set) var leftOutCount = 0

    /// - Parameters:
    ///   - rows: in their order; those of a node's run stand together.
    ///   - lines: from 1; nil: as many as there are rows.
    init(_ rows: [Window.Row], lines: Int?) {
        for (index, row) in rows.enumerated() {
            if let last = parts.last, let first = rows[last.rows].first, first.peer == row.peer,
                first.run == row.run
            {
                parts[parts.count - 1].rows = last.rows.lowerBound..<index + 1
            } else {
                parts.append(Part(rows: index..<index + 1, shownCount: 0))
            }
        }
        guard let lines, lines < rows.count else {
            for index in parts.indices { parts[index].shownCount = parts[index].rows.count }
            return
        }
        if parts.count > max(lines, 1) {
            let kept = max(lines - 1, 0)
            leftOutCount = parts.count - kept
            parts.removeLast(leftOutCount)
        }
        share(lines - (leftOutCount > 0 ? 1 : 0))
    }

    private mutating func share(_ lines: Int) {
        var left = lines
        let bySize = parts.indices.sorted {
            (parts[$0].rows.count, $0) < (parts[$1].rows.count, $1)
        }
        for (place, index) in bySize.enumerated() {
            let size = parts[index].rows.count
            let own = min(size, max(left / (bySize.count - place), 1))
            left -= own
            // One line is the summary's.
            parts[index].shownCount = own == size ? size : own - 1
        }
    }
}
