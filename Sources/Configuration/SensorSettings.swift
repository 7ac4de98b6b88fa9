/// One entry under `sensors`.
public struct SensorSettings: Sendable {
    public enum Driver: Sendable {
        case system(SystemSettings)
        case command(CommandSettings)
        case replay(ReplaySettings)
    }

    public struct SystemSettings: Sendable {
        /// Full paths; at most 16.
        public var disks: [String]
    }

    public struct CommandSettings: Sendable {
        /// The program's full path, then its arguments.
        public var run: [String]
        /// 10 ms to 10 min.
        public var timeLimit: Duration
        public var name: String?
        public var unit: String
    }

    public struct ReplaySettings: Sendable {
        public var file: String
        /// 1–1,000.
        public var speed: Int
    }

    public var driver: Driver
    /// 10 ms to 1 d.
    public var every: Duration
    public var mark: Mark

    static let names = ["system", "command", "replay"]

    private static let common = [
        Key(
            "driver",
            .choice(
                names, later: ["iio", "hwmon", "thermal", "w1", "gpio", "ble", "serial", "i2c"]),
            .required, "Which driver reads."),
        Key(
            "every", .duration(.milliseconds(10) ... .seconds(86_400)), .value("10s"),
            "How often."),
    ]

    /// In the order of the reference.
    static let tables: [(driver: String, table: KeyTable)] = [
        (
            "system",
            KeyTable(
                "the system sensor",
                common + [
                    Key(
                        "disks", .list(element: "a full path such as /", most: 16),
                        .described("`[/]`"), "File systems whose use is read.")
                ])
        ),
        (
            "command",
            KeyTable(
                "the command sensor",
                common + [
                    Key(
                        "run", .list(element: "text, the first the program's full path", most: 64),
                        .required,
                        "Program and arguments; no shell. It prints a number, a JSON object of "
                            + "numbers, or InfluxDB lines."),
                    Key(
                        "time-limit", .duration(.milliseconds(10) ... .seconds(600)),
                        .value("10s"), "Longer is an error."),
                    Key(
                        "name", .text(1...63), .described("the program's name"),
                        "The channel, where a number is printed; otherwise what the channels' "
                            + "names begin with."),
                    Key(
                        "unit", .text(1...24), .value("1"),
                        "A unit's name after SenML (RFC 8428), such as Cel or %RH; 1 for none."),
                ])
        ),
        (
            "replay",
            KeyTable(
                "the replay sensor",
                common + [
                    Key(
                        "file", .path, .required,
                        "CSV: a first column `time`, in seconds or as 2026-05-01T12:00:00Z; then a "
                            + "column a channel, named `name` or `name [unit]`."),
                    Key(
                        "speed", .integer(1...1_000), .value("1"),
                        "How many times as fast as it was recorded."),
                ])
        ),
    ]
}

extension SensorSettings {
    /// The list under `sensors`, without those in which something is wrong.
    static func decode(_ section: Section, _ mistakes: MistakeList) -> [SensorSettings] {
        guard let node = section.node("sensors") else { return [] }
        guard case .sequence(let items) = node.value, items.count <= 64 else {
            mistakes.add(node.mark, "sensors must be \(Key.Form.sections(most: 64).expected)")
            return []
        }
        let sensors = items.compactMap { SensorSettings($0, mistakes) }
        for (index, sensor) in sensors.enumerated() {
            guard let claim = sensor.claim,
                let earlier = sensors[..<index].first(where: { $0.claim == claim })
            else { continue }
            mistakes.add(
                sensor.mark,
                "\(PlainText.shown(claim)) is read already by the sensor in line "
                    + "\(earlier.mark.line); leave one out or name it otherwise")
        }
        return sensors
    }

    /// What no other sensor may be called, as its channels would have the same names.
    private var claim: String? {
        switch driver {
        case .system: "the system"
        case .command(let command): command.name.map { "the channel \($0)" }
        case .replay: nil
        }
    }

    private init?(_ node: YAMLNode, _ mistakes: MistakeList) {
        guard let driver = Self.driver(of: node, mistakes),
            let table = Self.tables.first(where: { $0.driver == driver })?.table
        else { return nil }
        let section = Section(node, table, mistakes)
        mark = node.mark
        every = section.duration("every")
        switch driver {
        case "system":
            let disks = section.list("disks") { $0.hasPrefix("/") }.map(\.text)
            self.driver = .system(
                SystemSettings(disks: section.node("disks") == nil ? ["/"] : disks))
        case "command":
            guard let command = CommandSettings(section) else { return nil }
            self.driver = .command(command)
        default:
            self.driver = .replay(
                ReplaySettings(
                    file: section.text("file") ?? "", speed: section.integer("speed")))
        }
    }

    /// Which driver is meant: it decides which keys there are.
    private static func driver(of node: YAMLNode, _ mistakes: MistakeList) -> String? {
        let choice = "it must be one of \(names.joined(separator: ", "))"
        guard case .mapping(let pairs) = node.value else {
            mistakes.add(
                node.mark, "a sensor must be a mapping such as {driver: system, every: 10s}")
            return nil
        }
        let value = pairs.first { $0.key.text == "driver" }?.value
        guard let value, let name = value.text else {
            mistakes.add(value?.mark ?? node.mark, "a sensor needs the key driver; \(choice)")
            return nil
        }
        if names.contains(name) { return name }
        if case .choice(_, let later)? = common.first?.form, later.contains(name) {
            mistakes.add(value.mark, "driver: \(name) is not in this version; \(choice)")
        } else {
            mistakes.add(
                value.mark,
                "unknown driver \(PlainText.shown(name)); "
                    + Suggestion.text(for: name, among: names))
        }
        return nil
    }
}

extension SensorSettings.CommandSettings {
    fileprivate init?(_ section: Section) {
        run = section.list("run").map(\.text)
        timeLimit = section.duration("time-limit")
        name = section.text("name")
        unit = section.text("unit") ?? "1"
        if unit.contains(" ") {
            section.add("unit", "unit has a space; write a unit's name such as Cel, %RH or ppm")
        }
        guard let node = section.node("run"), case .sequence = node.value else { return nil }
        if run.first?.hasPrefix("/") != true {
            section.add(
                "run", "run must begin with the program's full path, such as /usr/local/bin/co2")
        }
    }
}

extension YAMLNode {
    /// The text of a scalar.
    var text: String? { if case .scalar(let text, _) = value { text } else { nil } }
}
