/// Batteries, chargers and the mains: the `power` driver.
public struct PowerSettings: Sendable {
    /// As in /sys/class/power_supply; nil: all.
    public var supply: String?
}

extension SensorSettings.Kind {
    static let power = Self(
        name: "power",
        keys: [
            Key(
                "supply", .text(1...40), .described("all"),
                "Which: a name in /sys/class/power_supply, such as BAT0.")
        ]
    ) { section in .power(PowerSettings(supply: section.text("supply"))) }
}
