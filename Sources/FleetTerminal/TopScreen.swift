import Collector
import Fleet
import NearbyCore

/// What `rivulet top` shows and what keys do to it. Pure: snapshots, keys and sizes go in; what is
/// to be written comes out.
public struct TopScreen: Sendable {
    public enum Input: Sendable {
        case snapshot(FleetSnapshot)
        /// The collector could not be asked; what was seen last stays on the screen.
        case fault(String)
        case key(TopKey)
        case resized(columns: Int, lines: Int)
    }

    public struct Output: Equatable, Sendable {
        /// To be written.
        public var text: String
        public var isDone = false
    }

    /// What keys go to.
    enum Mode: Hashable { case rows, filter, help }

    /// How one view is sorted and where one is in it.
    struct Place: Hashable {
        var column = 0
        var isDescending = false
        /// The first row on the screen.
        var top = 0
        /// The row that is marked, by its name, and where it was seen.
        var selected: String?
        var row = 0
    }

    var snapshot: FleetSnapshot?
    var history = TopHistory()
    var fault: String?
    var mode = Mode.rows
    var view = TopView.nodes
    /// The node that is followed; nil: the whole network.
    var followed: PeerID?
    var filter = ""
    var places: [TopView: Place] = [:]
    /// Of the followed node's channels.
    var followedPlace = Place()
    var columns: Int
    var lines: Int
    private let hasColours: Bool
    private let source: String

    /// - Parameters:
    ///   - source: whom we ask, for the time before the first answer.
    public init(columns: Int, lines: Int, hasColours: Bool, source: String) {
        self.columns = columns
        self.lines = lines
        self.hasColours = hasColours
        self.source = source
    }

    public mutating func handle(_ input: Input) -> Output {
        switch input {
        case .snapshot(let snapshot):
            history.add(snapshot)
            self.snapshot = snapshot
            fault = nil
        case .fault(let text): fault = text
        case .resized(let columns, let lines): (self.columns, self.lines) = (columns, lines)
        case .key(let key):
            if press(key) { return Output(text: "", isDone: true) }
        }
        return Output(text: draw())
    }

    var place: Place {
        get { followed == nil ? places[view] ?? Place() : followedPlace }
        set { if followed == nil { places[view] = newValue } else { followedPlace = newValue } }
    }

    // MARK: Drawing

    private mutating func draw() -> String {
        let room = max(lines, 1)
        let all = mode == .help ? help : body(room: room)
        // The last line has no newline: the terminal would scroll.
        return "\u{1b}[H"
            + all.prefix(room).map { "\u{1b}[K" + $0 }.joined(separator: "\r\n") + "\u{1b}[J"
    }

    private var help: [String] {
        TopHelp.lines(columns: columns, lines: lines).map { cut($0, .plain) }
    }

    private mutating func body(room: Int) -> [String] {
        var lines = [cut(heading, .plain)]
        if let fault { lines.append(cut(fault, .fault)) }
        lines.append(tabs)
        lines += facts.map { cut($0, .plain) }
        let space = max(room - lines.count - 2, 1)
        lines += table(space)
        while lines.count < room - 1 { lines.append("") }
        lines.append(prompt)
        return lines
    }

    private var heading: String {
        guard let snapshot else { return "rivulet top · waiting for \(source)" }
        let own = snapshot.collector
        let nodes = snapshot.countedNodes
        var parts = [
            "\(own.name) in \(own.network)",
            "\(nodes.count(where: \.isOnline)) of \(nodes.count) nodes online",
            "\(own.readingCount) readings",
        ]
        let active = snapshot.alarms.count(where: \.isActive)
        if active > 0 { parts.append("\(active) \(active == 1 ? "ALARM" : "ALARMS")") }
        if let fault = own.storeFault { parts.append("STORE: \(fault)") }
        if let bytes = own.storeBytes { parts.append("store \(TopText.bytes(bytes))") }
        parts.append("up \(TopText.age(own.uptime))")
        return parts.joined(separator: " · ")
    }

    private var tabs: String {
        if let followed {
            let name = snapshot.map { TopNames($0)[followed] } ?? followed.begin
            return cut("\(name)  (Esc: back)", .plain, isSelected: true)
        }
        let whole = TopView.allCases.reduce(0) { $0 + $1.title.utf8.count + 4 }
        var line = ""
        var used = 0
        for tab in TopView.allCases {
            // On a narrow terminal the keys, and the name of what is shown.
            let hasName = whole <= columns || tab == view
            let text = "\(tab.rawValue + 1)" + (hasName ? " \(tab.title)" : "")
            guard used + text.utf8.count + 2 <= columns else { break }
            used += text.utf8.count + 2
            let isShown = tab == view
            line += TopStyle.plain.around(
                " \(text) ", isSelected: isShown, hasColours: hasColours)
        }
        return line
    }

    /// Of the node that is followed.
    private var facts: [String] {
        guard let followed, let snapshot else { return [] }
        guard let node = snapshot.nodes.first(where: { $0.peer == followed }) else {
            return ["\(followed) is not known any more"]
        }
        let names = TopNames(snapshot)
        let link = node.link.isEmpty ? "" : " over \(node.link)"
        let way = node.via.map { "via \(names[$0])" } ?? (node.isOnline ? "direct" : "")
        var first = [
            node.isOnline ? "online" : "silent for \(node.age.map { TopText.age($0) } ?? "ever")",
            node.role, way + link,
        ]
        if let signal = node.signal { first.append("\(TopText.number(signal)) dBm") }
        if let battery = node.battery { first.append("battery \(TopText.number(battery)) %") }
        let second = [
            node.peer.description, node.storedName.map { "calls itself \($0)" } ?? "",
            node.board, node.version, node.clock.isEmpty ? "" : "clock \(node.clock)",
            TopText.labels(node.labels),
        ]
        return [
            first.filter { !$0.isEmpty }.joined(separator: " · "),
            second.filter { !$0.isEmpty }.joined(separator: " · "),
        ]
    }

    private var prompt: String {
        switch mode {
        case .filter: return cut("/\(filter)▏  Enter: keep, Esc: clear", .plain)
        case .rows, .help:
            let filtered = filter.isEmpty ? "" : "filter \"\(filter)\" · "
            return cut(
                filtered + "q quit · ? help · / filter · s sort · Enter follow · Tab view", .faint)
        }
    }

    private mutating func table(_ space: Int) -> [String] {
        guard let snapshot else { return [] }
        let drawing = TopTableDrawing(
            rows: rows(snapshot), columns: shownColumns, place: place, filter: filter,
            width: columns, space: space, hasColours: hasColours,
            emptiness: followed == nil ? view.emptiness : "no reading has come yet")
        place = drawing.place
        return drawing.lines
    }

    var shownColumns: [TopColumn] { followed == nil ? view.columns : ChannelRows.ofOneNode }

    func rows(_ snapshot: FleetSnapshot) -> any TopRows {
        let names = TopNames(snapshot)
        if let followed { return ChannelRows(snapshot, names, history, of: followed) }
        switch view {
        case .nodes: return NodeRows(snapshot, names)
        case .channels: return ChannelRows(snapshot, names, history, of: nil)
        case .links: return LinkRows(snapshot.links, names)
        case .outputs: return OutputRows(outputs: snapshot.outputs)
        case .alarms: return AlarmRows(alarms: snapshot.alarms, utc: snapshot.collector.utc)
        case .drops:
            return DropRows(drops: snapshot.collector.drops, growth: history.dropGrowth)
        }
    }

    /// Printable, and within the terminal's width.
    private func cut(_ line: String, _ style: TopStyle, isSelected: Bool = false) -> String {
        let printable = PrintableText(line)
        let text = printable.width <= columns ? printable.text : printable.fitted(to: columns)
        return style.around(text, isSelected: isSelected, hasColours: hasColours)
    }
}
