/// Hardware monitoring chips: the `hwmon` driver.
public struct HwmonSettings: Sendable {
    /// A name, where it is attached, or a number; nil: all.
    public var device: String?
    public var staleAfter: Duration
}

extension SensorSettings.Kind {
    static let hwmon = Self(
        name: "hwmon",
        keys: [
            .device(
                "Which chip: its name (lm75), where it is attached (1-0048), or its number. All "
                    + "are all but those that the kernel makes for 1-Wire thermometers."),
            .staleAfter,
        ]
    ) { section in
        .hwmon(
            HwmonSettings(
                device: section.text("device"), staleAfter: section.duration("stale-after")))
    }
}
