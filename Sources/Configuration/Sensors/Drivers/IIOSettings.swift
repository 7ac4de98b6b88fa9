/// Industrial I/O devices: the `iio` driver.
public struct IIOSettings: Sendable {
    /// A name, a label, where it is attached, or a number; nil: all.
    public var device: String?
    /// None: all.
    public var channels: [String]
    public var staleAfter: Duration
    /// Whether the kernel's buffer is read; then there is a device.
    public var isBuffered: Bool
    public var trigger: String?
    /// Hertz, as sysfs takes it.
    public var frequency: String?
}

extension SensorSettings.Kind {
    static let iio = Self(
        name: "iio",
        keys: [
            .device(
                "Which: its name (bme280), its label, where it is attached (1-0076), or its number."
            ),
            Key(
                "read", .list(element: "text such as temperature or voltage0", most: 32),
                .described("all"), "Which quantities."),
            .staleAfter,
            Key(
                "buffer", .flag, .value("false"),
                "Let the kernel take all channels at once, at each event of a trigger, and read "
                    + "every one; for fast converters. Needs device; every is then how soon "
                    + "silence counts."),
            Key(
                "trigger", .text(1...40), .described("the device's own"),
                "Name of the trigger that starts a conversion; only with buffer."),
            Key(
                "frequency", .text(1...12), .described("as it is set"),
                "Hertz, such as 250 or 12.5, that the trigger or the device is set to; only with "
                    + "buffer."),
        ]
    ) { section in .iio(IIOSettings(section)) }
}

extension IIOSettings {
    fileprivate init(_ section: Section) {
        device = section.text("device")
        channels = section.list("read").map(\.text)
        staleAfter = section.duration("stale-after")
        isBuffered = section.flag("buffer")
        trigger = section.text("trigger")
        frequency = section.text("frequency")
        if isBuffered, section.node("device") == nil {
            section.add("buffer", "buffer needs the key device: which device's buffer")
        }
        for key in ["trigger", "frequency"] where !isBuffered && section.node(key) != nil {
            section.add(key, "\(key) is of use only with buffer: true")
        }
        if let frequency, !Self.isFrequency(frequency) {
            section.add(
                "frequency",
                "frequency is '\(PlainText.shown(frequency))'; it must be hertz such as 250 or "
                    + "12.5, above 0 and at most 1000000")
        }
    }

    /// Digits with at most one point between them, above 0 and at most a million.
    private static func isFrequency(_ text: String) -> Bool {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count <= 2,
            parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy { $0.isASCII && $0.isNumber } }),
            let number = Double(text)
        else { return false }
        return number > 0 && number <= 1_000_000
    }
}
