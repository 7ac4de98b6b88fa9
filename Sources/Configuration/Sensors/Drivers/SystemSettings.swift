/// This machine itself: the `system` driver.
public struct SystemSettings: Sendable {
    /// Full paths; at most 16.
    public var disks: [String]
}

extension SensorSettings.Kind {
    static let system = Self(
        name: "system",
        keys: [
            Key(
                "disks", .list(element: "a full path such as /", most: 16),
                .described("`[/]`"), "File systems whose use is read.")
        ]
    ) { section in
        let disks = section.list("disks") { $0.hasPrefix("/") }.map(\.text)
        return .system(SystemSettings(disks: section.node("disks") == nil ? ["/"] : disks))
    }
}
