/// A device on an I²C bus that has no driver of the kernel: the `i2c` driver.
public struct I2CSettings: Sendable {
    public enum Device: String, Sendable, CaseIterable {
        case vl53l0x, scd4x, ads1115, pcf8574
    }

    public var device: Device
    /// N of /dev/i2c-N.
    public var bus: Int
    /// 0x08–0x77.
    public var address: Int
    /// Of an ADS1115, as its register numbers them: 0–3 two against each other, 4–7 one alone.
    public var inputs: [Int]
    /// Of an ADS1115, as its register numbers it: 0 is ±6.144 V, 5 ±0.256 V.
    public var gain: Int
    public var name: String?
}

extension SensorSettings.Kind {
    static let i2c = Self(
        name: "i2c",
        keys: [
            Key(
                "device", .choice(I2CSettings.Device.allCases.map(\.rawValue)), .required,
                "vl53l0x: distance; scd4x: CO₂, temperature, humidity; ads1115: volts; pcf8574: "
                    + "eight inputs. Most others have a driver of the kernel: `iio`, `hwmon`."),
            Key("bus", .integer(0...255), .value("1"), "N of /dev/i2c-N."),
            Key(
                "address", .text(1...4), .described("0x29, 0x62, 0x48, 0x20, in their order"),
                "The device's address, in hexadecimal such as 0x29."),
            Key(
                "inputs",
                .list(element: "one of " + I2CSettings.inputs.joined(separator: ", "), most: 8),
                .described("`[ain0, ain1, ain2, ain3]`"),
                "For `ads1115`: what is measured, against ground or against another input."),
            Key(
                "range", .choice(I2CSettings.ranges), .value("4.096"),
                "For `ads1115`: volts, up to which it measures; no input may have more than its "
                    + "supply."),
            Key(
                "name", .text(1...63), .described("nothing"),
                "What the channels' names begin with."),
        ]
    ) { section in I2CSettings(section).map { .i2c($0) } }
}

extension I2CSettings {
    /// In the order of the configuration register: TI SBAS444, MUX and PGA.
    static let inputs = [
        "ain0-ain1", "ain0-ain3", "ain1-ain3", "ain2-ain3", "ain0", "ain1", "ain2", "ain3",
    ]
    static let ranges = ["6.144", "4.096", "2.048", "1.024", "0.512", "0.256"]
    private static let addresses: [Device: Int] = [
        .vl53l0x: 0x29, .scd4x: 0x62, .ads1115: 0x48, .pcf8574: 0x20,
    ]

    fileprivate init?(_ section: Section) {
        guard let device: Device = section.choice("device") else { return nil }
        self.device = device
        bus = section.integer("bus")
        name = section.text("name")
        let given = section.list("inputs") { Self.inputs.contains($0) }.map(\.text)
        let names = given.isEmpty ? ["ain0", "ain1", "ain2", "ain3"] : given
        inputs = names.compactMap { Self.inputs.firstIndex(of: $0) }
        gain = section.text("range").flatMap { Self.ranges.firstIndex(of: $0) } ?? 1
        address = Self.addresses[device] ?? 0
        if let text = section.text("address") {
            if let address = Self.address(text) {
                self.address = address
            } else {
                section.add(
                    "address", "address is '\(PlainText.shown(text))'; \(Self.advice(for: text))")
            }
        }
        if Set(inputs).count < inputs.count {
            section.add("inputs", "inputs has one twice; leave it out")
        }
        if device != .ads1115 {
            for key in ["inputs", "range"] where section.node(key) != nil {
                section.add(key, "\(key) is for device: ads1115; leave it out")
            }
        }
    }

    /// `0x29`. YAML keeps the text as it is written. Data sheets and `i2cdetect` write addresses
    /// in hexadecimal, also without the 0x: 48 is 0x48 for most who write it.
    private static func address(_ text: String) -> Int? {
        text.hasPrefix("0x") ? number(text.dropFirst(2), radix: 16) : nil
    }

    /// What to write instead.
    private static func advice(for text: String) -> String {
        let decimal = number(text, radix: 10).map {
            "0x" + ($0 < 0x10 ? "0" : "") + String($0, radix: 16)
        }
        if number(text, radix: 16) != nil {
            return "write 0x\(text)" + (decimal.map { ", or \($0) if \(text) is decimal" } ?? "")
        }
        return decimal.map { "write \($0)" } ?? "it must be 0x08 to 0x77"
    }

    /// Digits, and an address that a device may have.
    private static func number(_ text: some StringProtocol, radix: Int) -> Int? {
        guard text.allSatisfy(\.isHexDigit), let number = Int(text, radix: radix),
            (0x08...0x77).contains(number)
        else { return nil }
        return number
    }
}
