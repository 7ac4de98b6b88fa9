import Telemetry

/// What `w1_slave` says: the thermometer's nine bytes, whether their checksum is right, and the
/// temperature that the kernel worked out.
///
///     50 05 4b 46 7f ff 0c 10 1c : crc=1c YES
///     50 05 4b 46 7f ff 0c 10 1c t=85000
struct OneWireScratchpad: Equatable, Sendable {
    var bytes: [UInt8]
    var isChecked: Bool
    var millidegrees: Int64

    /// Nil for anything else, such as the empty text that stands for "nobody answered" as well as
    /// for "the checksum was wrong five times".
    init?(parsing text: String) {
        let lines = text.split(separator: "\n")
        guard lines.count == 2 else { return nil }
        let words = lines[0].split(separator: " ")
        let bytes = words.prefix(9).compactMap {
            Int($0, radix: 16).flatMap { UInt8(exactly: $0) }
        }
        guard bytes.count == 9, words.count >= 11, let verdict = words.last,
            let temperature = lines[1].split(separator: " ").last, temperature.hasPrefix("t="),
            let millidegrees = Int64(temperature.dropFirst(2))
        else { return nil }
        self.bytes = bytes
        isChecked = verdict == "YES"
        self.millidegrees = millidegrees
    }

    /// What a thermometer has in its memory before its first conversion: 85 °C.
    static let powerOnMillidegrees: Int64 = 85_000

    /// Whether the temperature is the one of the power-on state.
    var isPowerOnValue: Bool { millidegrees == Self.powerOnMillidegrees }

    /// Whether the reserved byte is that of a real conversion. A DS18B20 of Maxim's has 0x0C there
    /// after power-on and 0x10 less the lowest four bits after a conversion; copies may leave it at
    /// 0x0C for ever, so that only the other value proves something.
    var provesConversion: Bool { bytes[6] != 0x0C }

    /// Whether the part is a MAX31850 or MAX31851: the upper half of its configuration is ones, the
    /// first bit of a DS1825's zero. Only within their common family: a GX20MH01, which has the
    /// DS18B20's, sets that bit too (Maxim 19-6725, "Configuration Register").
    var isThermocouple: Bool { bytes[4] & 0xF0 == 0xF0 }

    /// Of a thermocouple: open, or shorted to ground or to the supply.
    var isThermocoupleFault: Bool { bytes[0] & 1 == 1 }

    /// What the kernel gives when the conversion was cut short by a supply that broke down
    /// (0x07FF, 127.94 °C; w1_therm.rst, "features").
    var isBrokenConversion: Bool {
        bytes[6] == 0x0C && bytes[0] == 0xFF && bytes[1] == 0x07
    }
}

/// A thermometer on a 1-Wire bus: its family's number and name.
enum OneWireFamily {
    /// By the two digits with which the id begins.
    static let thermometers: [String: String] = [
        "10": "ds18s20", "22": "ds1822", "28": "ds18b20", "3b": "ds1825", "42": "ds28ea00",
    ]

    /// The family of the DS1825, which is that of the MAX31850 and MAX31851 too.
    static func isDS1825(_ id: String) -> Bool { id.hasPrefix("3b-") }

    /// The part's name, as `SensorPart` has it; nil for an id of another kind:
    /// `28-0001a0115e01`, two and twelve digits of base 16.
    static func part(of id: String) -> String? {
        let parts = id.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[1].utf8.count == 12,
            parts[1].allSatisfy({ $0.isHexDigit && !$0.isUppercase })
        else { return nil }
        return thermometers[String(parts[0])]
    }
}
