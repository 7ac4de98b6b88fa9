import NearbyCore

/// The network's nodes as `rivulet status` lists them, a line each.
package struct NodeTable {
    package struct Row {
        var name: String
        var peer: String
        var role: String
        /// `direct eth0`, `via relay, 2 hops`.
        var reached: String
        var seen: String
        var version: String

        package init(
            name: String, peer: String, role: String, reached: String, seen: String,
            version: String
        ) {
            self.name = name
            self.peer = peer
            self.role = role
            self.reached = reached
            self.seen = seen
            self.version = version
        }
    }

    /// In the order of the lines.
    var rows: [Row]

    var lines: [String] {
        let head = Row(
            name: "NODE", peer: "PEER", role: "ROLE", reached: "REACHED", seen: "SEEN",
            version: "VERSION")
        let cells = ([head] + rows).map {
            [$0.name, $0.peer, $0.role, $0.reached, $0.seen, $0.version]
        }
        let widths = (0..<6).map { column in
            cells.map { TextWidth.columns($0[column]) }.max() ?? 0
        }
        return cells.map { row in
            var line = ""
            for (column, cell) in row.enumerated() {
                line += cell
                guard column < row.count - 1 else { break }
                line += String(repeating: " ", count: widths[column] - TextWidth.columns(cell) + 2)
            }
            return line
        }
    }
}
