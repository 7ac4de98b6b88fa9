import NearbyCore

/// What outlasts the program: the alarms whose beginning was told, and the nodes whose silence is
/// watched.
///
/// A file of lines: a word, then fields behind tabs, their tabs, line ends and backslashes written
/// as `\t`, `\n` and `\\`.
///
///     node <PeerID> <name>
///     alarm <since, nanoseconds since 1970> <PeerID> <alarm> <node> <channel> <unit>
public struct AlarmRecord: Hashable, Sendable {
    public struct NamedNode: Hashable, Sendable {
        public var peer: PeerID
        public var name: String
    }

    public struct Alarm: Hashable, Sendable {
        public var name: String
        public var peer: PeerID
        public var node: String
        /// Empty where it is the node's silence.
        public var channel: String
        public var unit: String
        /// Nanoseconds since 1970.
        public var since: Int64

        public init(_ change: AlarmChange, unixOffset: Duration) {
            self.init(
                name: change.name, peer: change.peer, node: change.node, channel: change.channel,
                unit: change.unit.name, since: (change.since + unixOffset).nanoseconds)
        }

        init(
            name: String, peer: PeerID, node: String, channel: String, unit: String, since: Int64
        ) {
            self.name = name
            self.peer = peer
            self.node = node
            self.channel = channel
            self.unit = unit
            self.since = since
        }
    }

    public var nodes: [NamedNode] = []
    public var alarms: [Alarm] = []

    /// What a file may measure.
    public static let byteCountMax = 8 << 20

    public init() {}

    /// Lines that say nothing are left out: a record is a help, no more.
    public init(_ bytes: [UInt8]) {
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            let fields = line.split(separator: 0x09, omittingEmptySubsequences: false)
                .map { Self.plain(String(decoding: $0, as: UTF8.self)) }
            if fields.count == 3, fields[0] == "node", let peer = PeerID(text: fields[1]) {
                nodes.append(NamedNode(peer: peer, name: fields[2]))
            } else if fields.count == 7, fields[0] == "alarm", let since = Int64(fields[1]),
                let peer = PeerID(text: fields[2])
            {
                alarms.append(
                    Alarm(
                        name: fields[3], peer: peer, node: fields[4], channel: fields[5],
                        unit: fields[6], since: since))
            }
        }
    }

    public var bytes: [UInt8] {
        var text = ""
        for node in nodes { text += "node\t\(node.peer)\t\(Self.escaped(node.name))\n" }
        for alarm in alarms {
            let fields = [alarm.name, alarm.node, alarm.channel, alarm.unit].map(Self.escaped)
            text += "alarm\t\(alarm.since)\t\(alarm.peer)\t" + fields.joined(separator: "\t") + "\n"
        }
        return Array(text.utf8)
    }

    private static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += "\\\\"
            case "\t": result += "\\t"
            case "\n": result += "\\n"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    private static func plain(_ text: String) -> String {
        var result = ""
        var isEscaped = false
        for scalar in text.unicodeScalars {
            if isEscaped {
                result.unicodeScalars.append(scalar == "t" ? "\t" : scalar == "n" ? "\n" : scalar)
                isEscaped = false
            } else if scalar == "\\" {
                isEscaped = true
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
