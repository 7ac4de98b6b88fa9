import NearbyCore
import NodeShell

/// `rivulet browse`: who is heard on the links of a node.
public struct NearList {
    public struct Entry: Equatable, Sendable {
        public var peer: PeerID
        /// As it calls itself, not fit for a terminal; empty: not known.
        public var name: String
        /// As it says itself, until it is admitted.
        public var role: String
        var secondsNear: Int64
        public var isConnected: Bool
        public var interfaces: [String]
        /// `key=value` each.
        public var info: [String]

        public init(
            peer: PeerID, name: String, role: String, secondsNear: Int64, isConnected: Bool,
            interfaces: [String], info: [String]
        ) {
            self.peer = peer
            self.name = name
            self.role = role
            self.secondsNear = secondsNear
            self.isConnected = isConnected
            self.interfaces = interfaces
            self.info = info
        }

        fileprivate init?(_ value: JSONValue) {
            guard let peer = value["peer"].peer else { return nil }
            self.init(
                peer: peer, name: value["name"].string ?? "", role: value["role"].string ?? "",
                secondsNear: value["sinceSeconds"].integer ?? 0,
                isConnected: value["connected"].flag,
                interfaces: value["interfaces"].items.compactMap(\.string),
                info: value["info"].members.map { $0.0 + "=" + ($0.1.string ?? "") })
        }

        /// Apart from the time that passes.
        fileprivate func differs(from other: Entry) -> Bool {
            var other = other
            other.secondsNear = secondsNear
            return self != other
        }
    }

    public enum Change: String, Sendable { case found, changed, lost }

    /// By name, then by PeerID.
    public private(set) var entries: [Entry] = []

    public init() {}

    /// Takes what a node says (`near`).
    ///
    /// - Returns: what is new, by name; then who is gone.
    public mutating func update(_ text: String) throws(SurveyError) -> [(Change, Entry)] {
        guard case .array(let near)? = JSONReader.value(text) else { throw .tooOld }
        return update(near.compactMap(Entry.init))
    }

    mutating func update(_ new: [Entry]) -> [(Change, Entry)] {
        let before = Dictionary(entries.map { ($0.peer, $0) }, uniquingKeysWith: { $1 })
        let now = Set(new.map(\.peer))
        let gone = entries.filter { !now.contains($0.peer) }
        entries = new.sorted { ($0.name, $0.peer) < ($1.name, $1.peer) }
        var changes: [(Change, Entry)] = []
        for entry in entries {
            guard let old = before[entry.peer] else {
                changes.append((.found, entry))
                continue
            }
            if entry.differs(from: old) { changes.append((.changed, entry)) }
        }
        return changes + gone.map { (.lost, $0) }
    }

    // MARK: Text

    /// The table that a terminal shows: at most so wide and so high.
    public func table(columns: Int, rows: Int) -> [String] {
        let width = max(columns, 40)
        let count = entries.count == 1 ? "1 node is near" : "\(entries.count) nodes are near"
        let shown = entries.prefix(max(1, rows - 4))
        var lines = [Column.trimmed(Column.fitted("\(count); Ctrl-C ends this", width)), ""]
        lines.append(Self.head(width))
        lines += shown.map { row($0, width) }
        if shown.count < entries.count { lines.append("and \(entries.count - shown.count) others") }
        return lines
    }

    /// For who reads along where there is no terminal.
    public static func line(_ change: Change, _ entry: Entry) -> String {
        let cells = [
            change.rawValue, label(entry), entry.peer.description, entry.role,
            entry.interfaces.joined(separator: ","),
            entry.isConnected ? "connected" : "near", AgeText.text(.seconds(entry.secondsNear)),
        ]
        return (cells + entry.info).map(NetworkMap.printable).joined(separator: "  ")
    }

    public static func json(_ change: Change, _ entry: Entry) -> JSONValue {
        .object([
            ("event", .string(change.rawValue)),
            ("peer", .string(entry.peer.description)),
            ("name", .shown(entry.name)),
            ("role", .string(entry.role)),
            ("interfaces", .array(entry.interfaces.map { .string($0) })),
            ("connected", .flag(entry.isConnected)),
            ("secondsNear", .number(entry.secondsNear)),
            ("info", .array(entry.info.map { .string($0) })),
        ])
    }

    private static func head(_ width: Int) -> String {
        cells(["NODE", "PEER", "ROLE", "OVER", "SINCE", "STATE", "INFO"], width)
    }

    private func row(_ entry: Entry, _ width: Int) -> String {
        Self.cells(
            [
                Self.label(entry), entry.peer.shortText, entry.role,
                entry.interfaces.joined(separator: ","),
                AgeText.text(.seconds(entry.secondsNear)),
                entry.isConnected ? "connected" : "near", entry.info.joined(separator: " "),
            ], width)
    }

    private static func label(_ entry: Entry) -> String {
        let name = NetworkMap.printable(entry.name)
        return name.isEmpty ? "-" : name
    }

    private static func cells(_ cells: [String], _ width: Int) -> String {
        let widths = [16, 11, 9, 10, 6, 9]
        let rest = max(0, width - widths.reduce(widths.count) { $0 + $1 })
        let line = zip(cells, widths + [rest]).map { Column.fitted($0, $1) }
        return Column.trimmed(Column.fitted(line.joined(separator: " "), width))
    }
}
