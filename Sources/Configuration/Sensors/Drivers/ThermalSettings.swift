/// The kernel's thermal zones: the `thermal` driver.
public struct ThermalSettings: Sendable {
    /// A type or a number; nil: all.
    public var zone: String?
}

extension SensorSettings.Kind {
    static let thermal = Self(
        name: "thermal",
        keys: [
            Key(
                "zone", .text(1...40), .described("all"),
                "Which: its type (cpu-thermal) or its number.")
        ]
    ) { section in .thermal(ThermalSettings(zone: section.text("zone"))) }
}
