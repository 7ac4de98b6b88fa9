import NearbyCore
import NodeShell

/// A topology as an SVG picture: the node that was asked on the left, and each node in a column as
/// far to the right as it is away. No script, no style sheet, no font of its own; the same topology
/// makes the same bytes.
public struct TopologyPicture {
    private struct Place {
        var branch: Topology.Branch
        var depth: Int
        /// In rows; parents stand in the middle of their children.
        var row: Double
        var parent: Int?
    }

    private let topology: Topology
    private var places: [Place] = []
    private var rowCount = 0

    public init(_ topology: Topology) {
        self.topology = topology
        _ = place(topology.root, depth: 0, parent: nil)
    }

    private mutating func place(_ branch: Topology.Branch, depth: Int, parent: Int?) -> Double {
        let index = places.count
        places.append(Place(branch: branch, depth: depth, row: 0, parent: parent))
        var rows: [Double] = []
        for child in branch.children {
            rows.append(place(child, depth: depth + 1, parent: index))
        }
        if let first = rows.first, let last = rows.last {
            places[index].row = (first + last) / 2
        } else {
            places[index].row = Double(rowCount)
            rowCount += 1
        }
        return places[index].row
    }

    // MARK: Drawing

    private static let box = (width: 170, height: 40)
    private static let column = 390
    private static let rowHeight = 58
    private static let margin = 24
    private static let head = 48

    public var text: String {
        let depth = places.map(\.depth).max() ?? 0
        let goneRows = topology.gone.isEmpty ? 0 : topology.gone.count + 1
        let width = Self.margin * 2 + max(depth * Self.column + Self.box.width, 420)
        let below = Self.head + rowCount * Self.rowHeight + Self.margin
        let height = below + goneRows * 20
        let title =
            "network \(NetworkMap.printable(topology.map.network)), as "
            + "\(topology.map.label(of: topology.map.own.peer)) knows it"
        var lines = [
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\(width)\" height=\"\(height)\" "
                + "viewBox=\"0 0 \(width) \(height)\" font-family=\"sans-serif\" font-size=\"13\">",
            "<title>\(Self.escaped(title))</title>",
            "<rect width=\"\(width)\" height=\"\(height)\" fill=\"#ffffff\"/>",
            Self.label(title, x: Self.margin, y: 28, size: 15),
        ]
        for place in places { if let edge = edge(to: place) { lines += edge } }
        for place in places { lines += node(place) }
        if goneRows > 0 {
            lines.append(
                Self.label("out of reach", x: Self.margin, y: below + 4, colour: "#777777"))
        }
        for (index, member) in topology.gone.enumerated() {
            let words =
                "\(topology.map.label(of: member.peer)) (\(member.role)), "
                + "\(AgeText.text(.seconds(member.ageSeconds))) ago"
            lines.append(
                Self.label(
                    words, x: Self.margin + 16, y: below + 24 + 20 * index, colour: "#777777"))
        }
        return (lines + ["</svg>", ""]).joined(separator: "\n")
    }

    private func left(_ place: Place) -> Int { Self.margin + place.depth * Self.column }

    private func middle(_ place: Place) -> Int {
        Self.head + Int(place.row * Double(Self.rowHeight)) + Self.rowHeight / 2
    }

    private func node(_ place: Place) -> [String] {
        let (x, y) = (left(place), middle(place) - Self.box.height / 2)
        let member = place.branch.member
        let name = topology.map.label(of: member.peer)
        let details = [name, member.role, "\(member.peer)"] + facts(place.branch)
        let fill = Self.fills[member.role] ?? "#eeeeee"
        let shape =
            "<rect x=\"\(x)\" y=\"\(y)\" width=\"\(Self.box.width)\" "
            + "height=\"\(Self.box.height)\" rx=\"6\" fill=\"\(fill)\" stroke=\"#444444\"/>"
        return [
            "<g><title>\(Self.escaped(details.joined(separator: ", ")))</title>", shape,
            Self.label(Column.trimmed(Column.fitted(name, 20)), x: x + 10, y: y + 17),
            Self.label(
                "\(member.role) \(member.peer.shortText)", x: x + 10, y: y + 33, size: 11,
                colour: "#555555"), "</g>",
        ]
    }

    /// Dashed where other nodes may be in between.
    private func edge(to place: Place) -> [String]? {
        guard let parent = place.parent.map({ places[$0] }) else { return nil }
        let (x1, y1) = (left(parent) + Self.box.width, middle(parent))
        let (x2, y2) = (left(place), middle(place))
        let colour = Self.colours[place.branch.link ?? ""] ?? "#888888"
        let dashes = place.branch.isCertain ? "" : " stroke-dasharray=\"4 4\""
        // The bend ends before the words above the line begin.
        let end = x1 + 44
        return [
            "<path d=\"M\(x1) \(y1) C\(x1 + 26) \(y1) \(x1 + 18) \(y2) \(end) \(y2) "
                + "L\(x2) \(y2)\" fill=\"none\" stroke=\"\(colour)\" stroke-width=\"2\"\(dashes)/>",
            Self.label(
                facts(place.branch).joined(separator: ", "), x: x2 - 4, y: y2 - 6, size: 11,
                colour: "#555555", anchor: "end"),
        ]
    }

    private func facts(_ branch: Topology.Branch) -> [String] {
        guard branch.isCertain else { return [branch.hops.map { "\($0) hops" } ?? "behind it"] }
        return [
            branch.link, branch.linkCost.map { "\($0)" },
            branch.lossPercent.flatMap { $0 > 0 ? "\($0) % lost" : nil },
            branch.nanoseconds.map { EchoReply.time($0) },
        ].compactMap { $0 }
    }

    private static func label(
        _ text: String, x: Int, y: Int, size: Int = 13, colour: String = "#111111",
        anchor: String = "start"
    ) -> String {
        "<text x=\"\(x)\" y=\"\(y)\" font-size=\"\(size)\" fill=\"\(colour)\" "
            + "text-anchor=\"\(anchor)\">\(escaped(text))</text>"
    }

    /// XML's own characters as entities; what XML cannot hold at all is left out.
    static func escaped(_ text: String) -> String {
        NetworkMap.printable(text).unicodeScalars.map { scalar -> String in
            switch scalar {
            case "&": "&amp;"
            case "<": "&lt;"
            case ">": "&gt;"
            case "\"": "&quot;"
            case "'": "&#39;"
            default: String(scalar)
            }
        }.joined()
    }

    private static let colours = [
        "ethernet": "#2b6cb0", "wifi": "#2f855a", "bluetooth": "#805ad5",
    ]
    private static let fills = [
        "collector": "#fde9c8", "relay": "#dbeafe", "agent": "#dcfce7", "viewer": "#f3e8ff",
    ]
}
