/// A line of a GPIO chip: the `gpio` driver.
public struct GPIOSettings: Sendable {
    /// The kernel's name of the line, or the pin of the board's header; nil: `line` of `chip`.
    public var pin: String?
    /// By name, label or number.
    public var chip: String?
    /// From 0.
    public var line: Int?
    /// The channel.
    public var name: String
    /// Which changes become readings; nil: none.
    public var edges: Edges?
    /// What a pulse is; nil: nothing is counted.
    public var count: Edges?
    public var bias: Bias
    public var isActiveLow: Bool
    /// 0 to 1 s.
    public var debounce: Duration
    /// What a pulse is worth, as digits with at most one point.
    public var scale: String
    public var unit: String
    public var rate: Rate
    /// Of the rate; nil: `unit` by the rate's time.
    var rateUnit: String?

    public enum Edges: String, Sendable, CaseIterable { case rising, falling, both }

    public enum Bias: String, Sendable, CaseIterable {
        case asIs = "as-is"
        case none
        case pullUp = "pull-up"
        case pullDown = "pull-down"
    }

    public enum Rate: String, Sendable, CaseIterable { case second, hour, off }
}

extension SensorSettings.Kind {
    private static let edges = Key.Form.choice(GPIOSettings.Edges.allCases.map(\.rawValue))

    static let gpio = Self(
        name: "gpio",
        keys: [
            Key(
                "pin", .text(1...31), .described("`chip` and `line`"),
                "The line by the kernel's name for it, such as GPIO17, or by its number on the "
                    + "board's header, such as 11."),
            Key(
                "chip", .text(1...63), .described("all"),
                "The chip by name, label or number: gpiochip0, pinctrl-bcm2711 or 0."),
            Key(
                "line", .integer(0...1_023), .described("by `pin`"),
                "The line by its number on the chip."),
            Key("name", .text(1...63), .described("the pin"), "The channel."),
            Key(
                "edges", edges, .described("none"),
                "Changes that become readings at once, with the kernel's time; the level is read "
                    + "once a period all the same."),
            Key(
                "count", edges, .described("nothing is counted"),
                "Pulses by this edge are counted, also over restarts: once a minute the count is "
                    + "written to the folder `counters` below `state`, so a power cut loses the "
                    + "last minute (the last period, where `every` is longer)."),
            Key(
                "bias", .choice(GPIOSettings.Bias.allCases.map(\.rawValue)), .value("as-is"),
                "The resistor that the chip connects to the line."),
            Key(
                "active", .choice(["high", "low"]), .value("high"),
                "The voltage that is a 1; with low, rising is where the voltage falls."),
            Key(
                "debounce", .duration(.zero ... .seconds(1)), .value("0"),
                "A change counts once the line has stayed for so long."),
            Key("scale", .decimal, .value("1"), "What a pulse is worth, in `unit`."),
            Key(
                "unit", .text(1...22), .value("1"),
                "The count's, after SenML (RFC 8428), such as mm, l or kWh; 1 for none."),
            Key(
                "rate", .choice(GPIOSettings.Rate.allCases.map(\.rawValue)), .value("hour"),
                "The time of the channel `name.rate`, which says how fast pulses come."),
            Key(
                "rate-unit", .text(1...24), .described("`unit` and /s or /h"),
                "Its unit, such as kW where kWh are counted."),
        ]
    ) { section in GPIOSettings(section).map { .gpio($0) } }
}

extension GPIOSettings {
    fileprivate init?(_ section: Section) {
        pin = section.text("pin")
        chip = section.text("chip")
        line = section.integerIfGiven("line")
        name = section.text("name") ?? pin ?? "\(chip ?? "gpio") line \(line ?? 0)"
        edges = section.choice("edges")
        count = section.choice("count")
        bias = section.choice("bias") ?? .asIs
        isActiveLow = section.text("active") == "low"
        debounce = section.duration("debounce")
        scale = section.decimal("scale")
        unit = section.text("unit") ?? "1"
        rate = section.choice("rate") ?? .hour
        rateUnit = section.text("rate-unit")
        checkPlace(section)
        checkMode(section)
        for (key, unit) in [("unit", unit), ("rate-unit", rateUnit)]
        where unit?.contains(" ") == true {
            section.add(key, "\(key) has a space; write a unit's name such as mm, l or kWh")
        }
        UnitWords.check("unit", unit, section)
        if let rateUnit { UnitWords.check("rate-unit", rateUnit, section) }
        if !scale.utf8.contains(where: { (0x31...0x39).contains($0) }) || scale.hasPrefix("-") {
            section.add("scale", "scale is \(scale); it must be more than 0")
        }
    }

    private func checkPlace(_ section: Section) {
        let (hasPin, hasLine) = (section.node("pin") != nil, section.node("line") != nil)
        if hasPin, hasLine {
            section.add("line", "line and pin both say which line it is; leave one out")
        } else if hasLine, section.node("chip") == nil {
            section.add("line", "line needs the key chip beside it, such as chip: gpiochip0")
        } else if !hasPin, !hasLine {
            section.add(
                "chip", "the gpio sensor needs the key pin, such as pin: GPIO17, or chip and line")
        }
    }

    /// Keys that would do nothing are mistakes: somebody expects something of them.
    private func checkMode(_ section: Section) {
        let (hasEdges, hasCount) = (section.node("edges") != nil, section.node("count") != nil)
        if hasEdges, hasCount {
            section.add(
                "edges", "a line is counted or its edges are told; leave edges or count out")
        }
        for key in ["scale", "unit", "rate", "rate-unit"]
        where !hasCount && section.node(key) != nil {
            section.add(key, "\(key) is for pulses; write count beside it, or leave it out")
        }
        if section.node("debounce") != nil, !hasEdges, !hasCount {
            section.add(
                "debounce", "debounce is for edges; write edges or count beside it, or leave it out"
            )
        }
    }
}
