/// Readings of another day: the `replay` driver.
public struct ReplaySettings: Sendable {
    public var file: String
    /// 1–1,000.
    public var speed: Int
}

extension SensorSettings.Kind {
    static let replay = Self(
        name: "replay",
        keys: [
            Key(
                "file", .path, .required,
                "CSV: a first column `time`, in seconds or as 2026-05-01T12:00:00Z; then a "
                    + "column a channel, named `name` or `name [unit]`."),
            Key(
                "speed", .integer(1...1_000), .value("1"),
                "How many times as fast as it was recorded."),
        ]
    ) { section in
        .replay(
            ReplaySettings(file: section.text("file") ?? "", speed: section.integer("speed")))
    }
}
