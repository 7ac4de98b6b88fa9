/// A program that prints readings: the `command` driver.
public struct CommandSettings: Sendable {
    /// The program's full path, then its arguments.
    public var run: [String]
    /// 10 ms to 10 min.
    public var timeLimit: Duration
    public var name: String?
    public var unit: String
}

extension SensorSettings.Kind {
    static let command = Self(
        name: "command",
        keys: [
            Key(
                "run", .list(element: "text, the first the program's full path", most: 64),
                .required,
                "Program and arguments; no shell. It prints a number, a JSON object of "
                    + "numbers, or InfluxDB lines."),
            Key(
                "time-limit", .duration(.milliseconds(10) ... .seconds(600)), .value("10s"),
                "Longer is an error."),
            Key(
                "name", .text(1...63), .described("the program's name"),
                "The channel, where a number is printed; otherwise what the channels' "
                    + "names begin with."),
            Key(
                "unit", .text(1...24), .value("1"),
                "A unit's name after SenML (RFC 8428), such as Cel or %RH; 1 for none."),
        ]
    ) { section in CommandSettings(section).map { .command($0) } }
}

extension CommandSettings {
    fileprivate init?(_ section: Section) {
        run = section.list("run").map(\.text)
        timeLimit = section.duration("time-limit")
        name = section.text("name")
        unit = section.text("unit") ?? "1"
        if unit.contains(" ") {
            section.add("unit", "unit has a space; write a unit's name such as Cel, %RH or ppm")
        }
        UnitWords.check("unit", unit, section)
        guard let node = section.node("run"), case .sequence = node.value else { return nil }
        if let fault = run.first.flatMap({ PathText.fault($0, "run") }) {
            section.add("run", fault)
        } else if run.first?.hasPrefix("/") != true {
            section.add(
                "run", "run must begin with the program's full path, such as /usr/local/bin/co2")
        }
    }
}
