/// A light that shows what the agent does.
public struct StatusLEDSettings: Equatable, Sendable {
    public enum Place: Equatable, Sendable {
        /// Of /sys/class/leds.
        case led(String)
        /// Of a chip by name, label or number; nil: of all.
        case pin(String, chip: String?)
    }

    public var place: Place
    public var isActiveLow: Bool

    static let table = KeyTable(
        "status-led",
        [
            Key("led", .text(1...63), .described("`pin`"), "A light of the board, such as ACT."),
            Key(
                "pin", .text(1...31), .described("`led`"),
                "A line with an LED of yours, by name or number of the header, such as GPIO24."),
            Key("chip", .text(1...63), .described("all"), "The chip of the pin."),
            Key("active", .choice(["high", "low"]), .value("high"), "When the pin's LED is on."),
        ])

    /// Nil if nothing was given, or something is wrong.
    init?(_ section: Section, role: ConfiguredRole, isGiven: Bool) {
        guard isGiven else { return nil }
        isActiveLow = section.text("active") == "low"
        switch (section.text("led"), section.text("pin")) {
        case (let led?, nil): place = .led(led)
        case (nil, let pin?): place = .pin(pin, chip: section.text("chip"))
        default:
            section.add("pin", "status-led needs one of the keys led and pin, such as {led: ACT}")
            return nil
        }
        if case .led(let name) = place, name.utf8.contains(UInt8(ascii: "/")) {
            section.add("led", "led is a name such as ACT, not a path; `ls /sys/class/leds`")
        }
        if role == .collector || role == .viewer {
            section.add("led", "status-led shows what agents and relays do; leave it out here")
        }
    }
}
