import NearbyCore
import Telemetry

/// What survives a restart: the active alarms, those that ended within a day, the notifications
/// still to be sent to each target, and the nodes watched for silence.
///
/// A file of lines: a word, then fields behind tabs, their tabs, line ends and backslashes written
/// as `\t`, `\n` and `\\`. Times are nanoseconds since 1970.
///
///     node <PeerID> <name>
///     alarm <since> <PeerID> <alarm> <node> <channel> <unit> <condition> <target>…
///     ended <until> <since> <PeerID> <alarm> <node> <channel> <unit> <condition>
///     waiting <target> <active|cleared> <since> <time> <PeerID> <alarm> <node> <channel> <unit> <condition> <value>
///
/// `alarm` lines of earlier versions end with the unit.
public struct AlarmRecord: Hashable, Sendable {
    public struct NamedNode: Hashable, Sendable {
        public var peer: PeerID
        public var name: String
    }

    /// What is told of an alarm, with UTC in place of our clock.
    struct Notice: Hashable, Sendable {
        var name: String
        var peer: PeerID
        var node: String
        /// Empty where it is the node's silence.
        var channel: String
        var unit: String
        var condition: String
        /// Nanoseconds since 1970.
        var since: Int64

        init(_ change: AlarmChange, unixOffset: Duration) {
            name = change.name
            peer = change.peer
            node = change.node
            channel = change.channel
            unit = change.unit.name
            condition = change.condition
            since = (change.since + unixOffset).nanoseconds
        }

        /// Nil if the fields are none: since, PeerID, alarm, node, channel, unit, condition.
        init?(_ fields: ArraySlice<String>) {
            let fields = Array(fields)
            guard fields.count >= 6, let since = Int64(fields[0]),
                let peer = PeerID(text: fields[1])
            else { return nil }
            self.since = since
            self.peer = peer
            (name, node, channel, unit) = (fields[2], fields[3], fields[4], fields[5])
            condition = fields.count > 6 ? fields[6] : ""
        }

        var fields: [String] {
            [String(since), peer.description, name, node, channel, unit, condition]
        }
    }

    /// An active alarm.
    public struct Alarm: Hashable, Sendable {
        var notice: Notice
        /// Who was told of its beginning, or will be; nil: an earlier version does not say.
        var targets: [String]?

        public init(_ change: AlarmChange, targets: [String], unixOffset: Duration) {
            notice = Notice(change, unixOffset: unixOffset)
            self.targets = targets
        }

        fileprivate init?(_ fields: ArraySlice<String>) {
            guard let notice = Notice(fields) else { return nil }
            self.notice = notice
            targets = fields.count > 6 ? Array(fields.dropFirst(7)) : nil
        }
    }

    /// An alarm that ended.
    public struct Ended: Hashable, Sendable {
        var notice: Notice
        /// Nanoseconds since 1970.
        var until: Int64

        init(_ change: AlarmChange, unixOffset: Duration) {
            notice = Notice(change, unixOffset: unixOffset)
            until = (change.time + unixOffset).nanoseconds
        }

        fileprivate init?(_ fields: ArraySlice<String>) {
            guard fields.count == 8, let until = fields.first.flatMap(Int64.init),
                let notice = Notice(fields.dropFirst())
            else { return nil }
            self.notice = notice
            self.until = until
        }
    }

    /// A change that a target has still to be notified of.
    public struct Waiting: Hashable, Sendable {
        public var target: String
        /// The alarm's name.
        public var alarm: String { notice.name }
        var isActive: Bool
        var time: Int64
        var notice: Notice
        var value: String

        public init(_ change: AlarmChange, target: String, unixOffset: Duration) {
            self.target = target
            isActive = change.isActive
            time = (change.time + unixOffset).nanoseconds
            notice = Notice(change, unixOffset: unixOffset)
            value = change.value
        }

        fileprivate init?(_ fields: ArraySlice<String>) {
            let fields = Array(fields)
            guard fields.count == 11, ["active", "cleared"].contains(fields[1]),
                let time = Int64(fields[3]),
                let notice = Notice([fields[2]] + fields[4...9])
            else { return nil }
            target = fields[0]
            isActive = fields[1] == "active"
            self.time = time
            self.notice = notice
            value = fields[10]
        }

        var fields: [String] {
            let rest = notice.fields
            return [target, isActive ? "active" : "cleared", rest[0], String(time)] + rest[1...]
                + [value]
        }
    }

    public var nodes: [NamedNode] = []
    public var alarms: [Alarm] = []
    /// The oldest first.
    public var ended: [Ended] = []
    /// In order for each target.
    public var waiting: [Waiting] = []

    /// What a file may measure.
    public static let byteCountMax = 16 << 20

    public init() {}

    /// Lines that say nothing are left out: a record is a help, no more.
    public init(_ bytes: [UInt8]) {
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            let fields = line.split(separator: 0x09, omittingEmptySubsequences: false)
                .map { Self.plain(String(decoding: $0, as: UTF8.self)) }
            let rest = fields.dropFirst()
            switch fields[0] {
            case "node" where rest.count == 2:
                if let peer = PeerID(text: fields[1]) {
                    nodes.append(NamedNode(peer: peer, name: fields[2]))
                }
            case "alarm": if let alarm = Alarm(rest) { alarms.append(alarm) }
            case "ended": if let end = Ended(rest) { ended.append(end) }
            case "waiting": if let change = Waiting(rest) { waiting.append(change) }
            default: break
            }
        }
    }

    public var bytes: [UInt8] {
        var lines: [[String]] = nodes.map { ["node", $0.peer.description, $0.name] }
        for alarm in alarms {
            lines.append(["alarm"] + alarm.notice.fields + (alarm.targets ?? []))
        }
        for end in ended { lines.append(["ended", String(end.until)] + end.notice.fields) }
        for change in waiting { lines.append(["waiting"] + change.fields) }
        let text = lines.map { $0.map(Self.escaped).joined(separator: "\t") + "\n" }.joined()
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

extension AlarmChange {
    /// A change that was still to be sent when the program ended.
    ///
    /// - Parameter rule: its rule, if there still is one.
    public init(_ waiting: AlarmRecord.Waiting, rule: Int?, unixOffset: Duration) {
        self.init(
            waiting.notice, rule: rule, isActive: waiting.isActive, value: waiting.value,
            time: Instant(nanoseconds: waiting.time) - unixOffset, unixOffset: unixOffset)
    }

    /// The end of an alarm before the program ended.
    init(_ end: AlarmRecord.Ended, rule: Int?, unixOffset: Duration) {
        self.init(
            end.notice, rule: rule, isActive: false, value: "",
            time: Instant(nanoseconds: end.until) - unixOffset, unixOffset: unixOffset)
    }

    init(
        _ notice: AlarmRecord.Notice, rule: Int?, isActive: Bool, value: String, time: Instant,
        unixOffset: Duration
    ) {
        self.init(
            rule: rule, name: notice.name, peer: notice.peer, node: notice.node,
            channel: notice.channel, condition: notice.condition,
            unit: Unit(notice.unit) ?? .none, value: value, isActive: isActive,
            since: Instant(nanoseconds: notice.since) - unixOffset, time: time)
    }
}
