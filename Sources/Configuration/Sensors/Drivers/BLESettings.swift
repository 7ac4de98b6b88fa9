/// Sensors that advertise over Bluetooth LE: the `ble` driver.
public struct BLESettings: Sendable {
    /// `AA:BB:CC:DD:EE:FF`; nil: whoever is heard.
    public var address: String?
    /// At most 40 bytes.
    public var name: String?
    /// 16 bytes; never shown.
    public var key: [UInt8]?
    /// 10 s to 7 d.
    public var silentAfter: Duration

    static let keyByteCount = 16
}

extension SensorSettings.Kind {
    static let ble = Self(
        name: "ble",
        keys: [
            Key(
                "address", .text(1...17), .described("all that are heard, as found"),
                "The sensor's address, as it is printed on it or its app shows. RuuviTag, BTHome, "
                    + "Xiaomi MiBeacon, and ATC and pvvx firmware are read."),
            Key(
                "name", .text(1...40), .described("the address"),
                "What the channels begin with."),
            Key(
                "key-file", .path, .described("none"),
                "A file with the sensor's bind key, 32 hexadecimal digits. Only its owner may be "
                    + "able to read it."),
            Key(
                "key", .hexadecimal(bytes: BLESettings.keyByteCount), .described("none"),
                "The bind key itself. Better in a file. With a key, what comes unencrypted is not "
                    + "believed."),
            Key(
                "silent-after", .duration(.seconds(10) ... .seconds(7 * 86_400)),
                .value("15min"),
                "After this time without anything new, its channels are null."),
        ]
    ) { section in .ble(BLESettings(section)) }
}

extension BLESettings {
    fileprivate init(_ section: Section) {
        address = section.text("address")
        name = section.text("name")
        silentAfter = section.duration("silent-after")
        if let address, !BluetoothText.isAddress(address) {
            section.add(
                "address",
                "address is '\(PlainText.shown(address))'; it must be an address such as "
                    + "\"AA:BB:CC:DD:EE:FF\", in quotation marks")
        }
        key = Self.key(section)
        guard section.node("address") == nil else { return }
        for word in ["name", "key", "key-file"] where section.node(word) != nil {
            section.add(word, "\(word) belongs to one sensor; say which with the key address")
        }
    }

    private static func key(_ section: Section) -> [UInt8]? {
        if section.node("key") != nil, section.node("key-file") != nil {
            section.add("key", "key and key-file are both given; leave one out")
            return nil
        }
        if let node = section.node("key") {
            guard let key = node.text.flatMap({ parse(Array($0.utf8)) }) else {
                // The value stays out of the message.
                section.add("key", "key must be \(expected)")
                return nil
            }
            return key
        }
        return section.text("key-file").flatMap { load($0, section) }
    }

    private static func load(_ path: String, _ section: Section) -> [UInt8]? {
        // Also one with a slip of the pen.
        if path.utf8.count >= keyByteCount, path.allSatisfy(\.isHexDigit) {
            section.add("key-file", "key-file holds a key, not a path; use the key named key")
            return nil
        }
        let place = "the key file \(PlainText.shown(path))"
        do throws(SmallFile.Fault) {
            let bytes = try SmallFile.read(path, limit: 256, isPrivate: true)
            guard let key = parse(bytes) else {
                section.add("key-file", "\(place): not a key; it must be \(expected)")
                return nil
            }
            return key
        } catch {
            section.add("key-file", "\(place): \(error)")
            return nil
        }
    }

    private static let expected = Key.Form.hexadecimal(bytes: keyByteCount).expected

    /// 32 hexadecimal digits, with nothing but space around them.
    private static func parse(_ text: [UInt8]) -> [UInt8]? {
        let isSpace = { (byte: UInt8) in byte == 0x20 || (0x09...0x0d).contains(byte) }
        let digits = text.drop(while: isSpace).reversed().drop(while: isSpace).reversed()
            .map { Character(Unicode.Scalar($0)).hexDigitValue }
        guard digits.count == 2 * keyByteCount else { return nil }
        var key: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[index], let low = digits[index + 1] else { return nil }
            key.append(UInt8(high << 4 | low))
        }
        return key
    }

    /// What no other sensor may name: each device is given to one.
    var claim: String {
        address.map { "the Bluetooth sensor \($0.uppercased())" } ?? "every Bluetooth sensor heard"
    }

    /// Without Bluetooth, nothing is heard.
    static func refuse(_ sensors: [SensorSettings], _ mistakes: MistakeList) {
        for sensor in sensors {
            guard case .ble = sensor.driver else { continue }
            mistakes.add(
                sensor.mark,
                "the ble sensor hears nothing with `bluetooth: off`; leave that out of links")
        }
    }
}
