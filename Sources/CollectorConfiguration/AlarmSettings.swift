import Configuration
import NearbyCore
import Telemetry

/// One entry of `alarms`: a condition, over what, and who is told.
public struct AlarmSettings: Equatable, Sendable {
    public enum Condition: Equatable, Sendable {
        case above(DecimalValue)
        case below(DecimalValue)
        /// No values, only nulls.
        case failing
        /// The node is out of reach.
        case silent
    }

    /// Who is told.
    public enum Target: Equatable, Sendable {
        case webhook(HTTPServer)
        /// Program and arguments; no shell.
        case command([String], timeLimit: Duration)
        /// The brokers that are configured as outputs.
        case mqtt
    }

    public var name: String
    /// A pattern, or a PeerID.
    public var node: String
    /// A pattern.
    public var channel: String
    public var condition: Condition
    public var hysteresis: DecimalValue
    /// For how long the condition has to hold.
    public var hold: Duration
    public var targets: [Target]

    static let targetsMax = 8

    static let table = KeyTable(
        "alarms",
        [
            Key(
                "name", .text(1...63), .required,
                "What it is called wherever it is shown or sent; no two may share a name."),
            Key(
                "node", .text(1...63), .value("*"),
                "The nodes that it is about: a name, a pattern such as freezer*, or a PeerID."),
            Key(
                "channel", .text(1...63), .value("*"),
                "The channels that it is about: a name or a pattern."),
            Key(
                "above", .decimal, .described("one of these four"),
                "Active while values are greater, in the unit that the channel is shown in."),
            Key(
                "below", .decimal, .described("one of these four"),
                "Active while values are smaller."),
            Key(
                "failing", .duration(.zero ... .seconds(2_592_000)),
                .described("one of these four"),
                "Active once the channel has had no value, only reasons why there is none, for "
                    + "that long."),
            Key(
                "silent", .duration(.seconds(5) ... .seconds(2_592_000)),
                .described("one of these four"),
                "Active once the node has been out of reach, and nothing has come from it, for "
                    + "that long."),
            Key(
                "for", .duration(.zero ... .seconds(2_592_000)), .value("0"),
                "With `above` and `below`: for how long this must be true."),
            Key(
                "hysteresis", .decimal, .value("0"),
                "With `above` and `below`: how far back a value must be before the alarm clears."),
            Key(
                "send", .sections(most: targetsMax), .described("nobody"),
                "Who is notified when it becomes active and when it clears; each a mapping with "
                    + "one of the keys of `alarms.send`."),
        ])

    static let targetTable = KeyTable(
        "alarms.send",
        [
            Key(
                "webhook", .section, .described("none"),
                "An address that gets a JSON object by POST."),
            Key("command", .section, .described("none"), "A program that is run."),
            Key(
                "mqtt", .flag, .described("none"),
                "true: all brokers under `outputs`."),
        ])

    static let webhookTable = KeyTable(
        "alarms.send.webhook", HTTPServer.keys(example: "https://example.org/hook"))

    static let commandTable = KeyTable(
        "alarms.send.command",
        [
            Key(
                "run", .list(element: "text, the first the program's full path", most: 64),
                .required,
                "Program and arguments; no shell. The environment has RIVULET_ALARM_NAME, "
                    + "…STATE (active or cleared), …NODE, …PEER, …CHANNEL, …CONDITION, …VALUE, "
                    + "…SINCE and …TIME."),
            Key(
                "time-limit", .duration(.milliseconds(10) ... .seconds(600)), .value("10s"),
                "After that it is killed, and run again later."),
        ])

    /// In the order of the reference.
    static let tables = [table, targetTable, webhookTable, commandTable]

    /// - Parameter section: the whole configuration.
    static func decode(_ section: Section) -> [AlarmSettings] {
        let sections = section.sections("alarms", table)
        var names: Set<String> = []
        return sections.compactMap { section in
            guard let alarm = AlarmSettings(section) else { return nil }
            if !names.insert(alarm.name).inserted {
                section.add(
                    "name",
                    "two alarms are called \(PlainText.shown(alarm.name)); give each a name of "
                        + "its own")
            }
            return alarm
        }
    }

    static func checkBrokers(
        _ alarms: [AlarmSettings], _ outputs: [OutputSettings], _ section: Section
    ) {
        guard alarms.contains(where: { $0.targets.contains(.mqtt) }),
            !outputs.contains(where: \.isMQTT)
        else { return }
        section.add("alarms", "an alarm is sent by mqtt, and no output has the key mqtt; add one")
    }

    private init?(_ section: Section) {
        name = section.text("name") ?? ""
        node = section.text("node") ?? ""
        channel = section.text("channel") ?? ""
        hysteresis = Self.number(section.decimal("hysteresis")) ?? DecimalValue(coefficient: 0)
        if hysteresis.coefficient < 0 {
            section.add("hysteresis", "hysteresis is negative; write how far back it must be")
        }
        hold = section.duration("for")
        targets = section.sections("send", Self.targetTable).compactMap { Self.target($0) }
        guard let found = Self.condition(section) else { return nil }
        condition = found.condition
        guard let own = found.hold else { return }
        hold = own
        for key in ["for", "hysteresis"] where section.node(key) != nil {
            section.add(key, "\(key) goes with above and below; leave it out")
        }
        if condition == .silent, section.node("channel") != nil {
            section.add("channel", "silent is about the whole node; leave channel out")
        }
    }

    /// With the time for which it has to hold, where that stands beside it.
    private static func condition(
        _ section: Section
    ) -> (condition: Condition, hold: Duration?)? {
        let keys = ["above", "below", "failing", "silent"]
        let given = keys.filter { section.node($0) != nil }
        guard given.count == 1, let key = given.first else {
            section.addNotOne(of: keys, in: "an alarm", at: "name")
            return nil
        }
        switch key {
        case "above": return section.decimalIfGiven(key).flatMap(number).map { (.above($0), nil) }
        case "below": return section.decimalIfGiven(key).flatMap(number).map { (.below($0), nil) }
        case "failing": return section.durationIfGiven(key).map { (.failing, $0) }
        default: return section.durationIfGiven(key).map { (.silent, $0) }
        }
    }

    private static func target(_ section: Section) -> Target? {
        let keys = ["webhook", "command", "mqtt"]
        let given = keys.filter { section.node($0) != nil }
        guard given.count == 1, let key = given.first else {
            section.addNotOne(of: keys, in: "an entry of send", at: "webhook")
            return nil
        }
        switch key {
        case "webhook":
            return .webhook(
                HTTPServer(section.section(key, webhookTable), allowsQuery: true))
        case "command":
            let command = section.section(key, commandTable)
            let run = command.list("run").map(\.text)
            if !run.isEmpty, run[0].hasPrefix("/") != true {
                command.add("run", "run must begin with the program's full path")
            } else if run.isEmpty, command.node("run") != nil {
                command.add("run", "run is empty; name a program")
            }
            return .command(run, timeLimit: command.duration("time-limit"))
        default: return section.flagIfGiven("mqtt") == true ? .mqtt : nil
        }
    }

    private static func number(_ text: String) -> DecimalValue? {
        try? DecimalValue(parsing: text)
    }
}
