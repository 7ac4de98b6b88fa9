/// One entry under `sensors`.
public struct SensorSettings: Sendable {
    public enum Driver: Sendable {
        case system(SystemSettings)
        case command(CommandSettings)
        case replay(ReplaySettings)
        case gpio(GPIOSettings)
        case ble(BLESettings)
        case serial(SerialSettings)
        case i2c(I2CSettings)
        case iio(IIOSettings)
        case hwmon(HwmonSettings)
        case thermal(ThermalSettings)
        case w1(OneWireSettings)
        case power(PowerSettings)
    }

    public var driver: Driver
    /// 10 ms to 1 d.
    public var every: Duration
    /// What becomes of its values.
    public var sampling: SamplingSettings
    public var mark: Mark

    /// A driver as the configuration knows it: its own keys, and how they are decoded.
    struct Kind: Sendable {
        let name: String
        let keys: [Key]
        /// Nil if something is wrong, which the section was told.
        let decode: @Sendable (Section) -> Driver?

        /// With the keys that every driver has.
        var table: KeyTable { KeyTable("the \(name) sensor", SensorSettings.common + keys) }
    }

    /// In the order of the reference.
    static let kinds: [Kind] = [
        .system, .iio, .hwmon, .thermal, .w1, .power, .gpio, .ble, .serial, .i2c, .command, .replay,
    ]

    package static var names: [String] { kinds.map(\.name) }

    private static let driverKey = Key(
        "driver",
        .choice(kinds.map(\.name)),
        .required, "Which driver reads.")

    static let common =
        [
            driverKey,
            Key(
                "every", .duration(.milliseconds(10) ... .seconds(86_400)), .value("10s"),
                "How often."),
        ] + SamplingSettings.keys
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
            let clash = sensors[..<index].lazy.compactMap { earlier in
                sensor.claims.first { earlier.overlaps($0) }.map { (earlier, $0) }
            }
            guard let (earlier, claim) = clash.first else { continue }
            mistakes.add(
                sensor.mark,
                "\(PlainText.shown(claim)) is read already by the sensor in line "
                    + "\(earlier.mark.line); leave one out or name it otherwise")
        }
        return sensors
    }

    /// Whether it reads what another sensor claims: the same, or one of "(all)".
    private func overlaps(_ claim: String) -> Bool {
        let isAll = { (whole: String, part: String) in
            whole.hasSuffix("(all)") && part.hasPrefix(whole.dropLast(5))
        }
        return claims.contains { $0 == claim || isAll($0, claim) || isAll(claim, $0) }
    }

    /// What no other sensor may be called, as its channels would have the same names.
    private var claims: [String] {
        if case .w1(let w1) = driver, !w1.ids.isEmpty {
            return w1.ids.map { "the thermometer \($0)" }
        }
        return [claim].compactMap { $0 }
    }

    private var claim: String? {
        switch driver {
        case .system: "the system"
        case .command(let command): command.name.map { "the channel \($0)" }
        case .replay: nil
        case .gpio(let gpio): "the channel \(gpio.name)"
        case .ble(let ble): ble.claim
        case .serial(let serial): "the serial port \(serial.device)"
        case .i2c(let device): "device \(device.address) on I2C bus \(device.bus)"
        case .iio(let iio): "the IIO device " + (iio.device ?? "(all)")
        case .hwmon(let hwmon): "the hwmon chip " + (hwmon.device ?? "(all)")
        case .thermal(let thermal): "the thermal zone " + (thermal.zone ?? "(all)")
        case .w1(let w1): "the thermometer " + (w1.ids.first ?? "(all)")
        case .power(let power): "the power supply " + (power.supply ?? "(all)")
        }
    }

    private init?(_ node: YAMLNode, _ mistakes: MistakeList) {
        guard let kind = Self.kind(of: node, mistakes) else { return nil }
        let section = Section(node, kind.table, mistakes)
        mark = node.mark
        every = section.duration("every")
        sampling = SamplingSettings(section)
        guard let driver = kind.decode(section) else { return nil }
        self.driver = driver
        driver.checkChannels(section, mistakes)
    }

    /// Which driver is meant: it decides which keys there are.
    private static func kind(of node: YAMLNode, _ mistakes: MistakeList) -> Kind? {
        let choice = "it must be one of \(names.joined(separator: ", "))"
        guard case .mapping(let pairs) = node.value else {
            mistakes.add(
                node.mark, "a sensor must be a mapping such as {driver: system, every: 10s}")
            return nil
        }
        let value = pairs.first { $0.key.text == "driver" }?.value
        guard let value, let name = value.text else {
            if value == nil, let (mark, text) = mistypedDriver(pairs) {
                mistakes.add(mark, text)
            } else {
                mistakes.add(value?.mark ?? node.mark, "a sensor needs the key driver; \(choice)")
            }
            return nil
        }
        if let kind = kinds.first(where: { $0.name == name }) { return kind }
        let advice = SensorParts.entry(for: name).map { "write \($0)" }
        mistakes.add(
            value.mark,
            "unknown driver \(PlainText.shown(name)); "
                + (advice ?? Suggestion.text(for: name, among: names)))
        return nil
    }

    /// The key that is meant for `driver`, and what is wrong with it; nil if there is none.
    private static func mistypedDriver(
        _ pairs: [(key: YAMLNode, value: YAMLNode)]
    ) -> (mark: Mark, text: String)? {
        let known = Set(kinds.flatMap { $0.table.keys.map(\.name) })
        for (key, _) in pairs {
            guard let name = key.text, !known.contains(name) else { continue }
            guard
                let advice = name.hasPrefix("driver:")
                    ? "write a space after the colon"
                    : Suggestion.nearest(to: name, among: ["driver"])
            else { continue }
            return (key.mark, "unknown key \(PlainText.shown(name)) in a sensor; \(advice)")
        }
        return nil
    }
}

extension YAMLNode {
    /// The text of a scalar.
    package var text: String? { if case .scalar(let text, _) = value { text } else { nil } }

    /// What stands at this key of a mapping.
    func node(_ key: String) -> YAMLNode? {
        guard case .mapping(let pairs) = value else { return nil }
        return pairs.first { $0.key.text == key }?.value
    }
}
