/// What is attached to this machine, found by looking through /sys and /dev; nothing is opened that
/// is not a small file, and no bus is spoken to.
public struct AttachedSensors {
    let tree: SystemTree

    /// Something found: what it is, and the entry under `sensors:` that reads it.
    struct Finding: Equatable {
        var what: String
        /// The driver, and its settings as a YAML flow mapping.
        var entry: (driver: String, text: String)?
        /// Whether the entry can be used as it is, or needs somebody who knows what is wired.
        var isReady = true

        static func == (left: Finding, right: Finding) -> Bool {
            left.what == right.what && left.entry?.driver == right.entry?.driver
                && left.entry?.text == right.entry?.text && left.isReady == right.isReady
        }
    }

    /// `root` is where /sys and /dev are; tests give another.
    public init(root: String = "") { tree = SystemTree(root: root) }

    /// YAML to paste into a configuration. Entries of drivers that are not among `drivers`, and
    /// those that somebody has to fill in, are comments.
    public func yaml(drivers: [String]) -> String {
        var text = "sensors:\n"
        for finding in findings {
            text += "  # \(Self.plain(finding.what))\n"
            guard let entry = finding.entry else { continue }
            let line = Self.plain("- {driver: \(entry.driver)\(entry.text)}")
            if !drivers.contains(entry.driver) {
                text += "  # not in this version: \(line)\n"
            } else {
                text += "  \(finding.isReady ? "" : "# ")\(line)\n"
            }
        }
        return text
    }

    var findings: [Finding] {
        let kernel: [Finding] = iio + hwmon + thermal + w1 + power
        let buses: [Finding] = gpio + i2c + serial
        return [system] + kernel + wifi + buses + bluetooth
    }

    // MARK: What kernel drivers read

    private var system: Finding {
        Finding(
            what: "this machine: load, memory, disks, network, processor",
            entry: ("system", ", every: 30s"))
    }

    private var iio: [Finding] {
        devices(in: "/sys/bus/iio/devices", prefix: "iio:device").map { device in
            let channels = Self.channels(in: tree.names(in: device.folder))
            return Finding(
                what: device.text
                    + (channels.isEmpty ? "no channels" : channels.joined(separator: ", ")),
                entry: channels.isEmpty
                    ? nil : device.key.map { ("iio", ", device: \($0), every: 10s") })
        }
    }

    /// `temp`, `pressure`, `voltage0` of in_temp_input, in_pressure_raw, in_voltage0_raw.
    static func channels(in files: [String]) -> [String] {
        let kinds = ["_input", "_raw"]
        var channels: [String] = []
        for file in files where file.hasPrefix("in_") {
            guard let kind = kinds.first(where: file.hasSuffix) else { continue }
            let channel = String(file.dropFirst(3).dropLast(kind.count))
            if !channels.contains(channel) { channels.append(channel) }
        }
        return channels
    }

    /// Thermal zones, power supplies and 1-Wire thermometers show themselves as hwmon too, and the
    /// system driver knows the undervoltage of a Raspberry Pi: none of them shall be read twice.
    private var hwmon: [Finding] {
        devices(in: "/sys/class/hwmon", prefix: "hwmon").compactMap { device in
            let isElsewhere = device.above.contains { part in
                part == "power_supply" || part.hasPrefix("thermal_zone")
                    || part.hasPrefix("w1_bus_master")
            }
            let values = tree.names(in: device.folder).filter {
                $0.hasSuffix("_input") || $0.hasSuffix("_alarm")
            }
            guard !isElsewhere, device.name != "rpi_volt", !values.isEmpty else { return nil }
            return Finding(
                what: device.text + values.joined(separator: ", "),
                entry: device.key.map { ("hwmon", ", device: \($0), every: 30s") })
        }
    }

    private var thermal: [Finding] {
        let folder = "/sys/class/thermal"
        let zones = tree.names(in: folder).filter { $0.hasPrefix("thermal_zone") }
            .map { tree.line("\(folder)/\($0)/type") ?? $0 }
        guard !zones.isEmpty else { return [] }
        return [
            Finding(
                what: "thermal zones: " + zones.joined(separator: ", "),
                entry: ("thermal", ", every: 30s"))
        ]
    }

    /// Families of thermometers: DS18S20, DS1822, DS18B20, DS1825 and MAX31850, DS28EA00.
    private static let thermometers = ["10", "22", "28", "3b", "42"]

    private var w1: [Finding] {
        let devices = tree.names(in: "/sys/bus/w1/devices")
        let masters = devices.filter { $0.hasPrefix("w1_bus_master") }
        guard !masters.isEmpty else { return [] }
        let slaves = devices.filter { !$0.hasPrefix("w1_bus_master") }
        let isThermometer = { (slave: String) in Self.thermometers.contains(String(slave.prefix(2)))
        }
        let others = slaves.filter { !isThermometer($0) }.map {
            Finding(what: "1-Wire device \($0): no thermometer, no driver of ours")
        }
        let readable = slaves.filter(isThermometer)
        guard !readable.isEmpty else {
            return [
                Finding(
                    what: "1-Wire bus without a thermometer: is the pull-up (4.7 kΩ to 3.3 V) "
                        + "there, is the data wire on the pin of the overlay?")
            ] + others
        }
        return [
            Finding(
                what: "1-Wire thermometers: " + readable.joined(separator: ", "),
                entry: ("w1", ", every: 30s"))
        ] + others
    }

    private var power: [Finding] {
        let folder = "/sys/class/power_supply"
        let supplies = tree.names(in: folder).map { name in
            tree.line("\(folder)/\(name)/type").map { "\(name) (\($0))" } ?? name
        }
        guard !supplies.isEmpty else { return [] }
        return [
            Finding(
                what: "power supplies: " + supplies.joined(separator: ", "),
                entry: ("power", ", every: 1min"))
        ]
    }

    private var wifi: [Finding] {
        let folder = "/sys/class/net"
        return tree.names(in: folder).filter { name in
            tree.exists("\(folder)/\(name)/wireless") || tree.exists("\(folder)/\(name)/phy80211")
        }.map { Finding(what: "Wi-Fi: \($0); the system driver reads how well it hears") }
    }

    // MARK: Names

    /// A device of a class.
    private struct Device {
        var folder: String
        var name: String
        /// The folders that it lies in, outermost first.
        var above: [String]
        /// What the bus calls it: 1-0076.
        var place: String?
        /// What the configuration calls it: its name, or, where two have one name, its place;
        /// its entry where that cannot be written there, and nil where that cannot either.
        var key: String?

        /// `bme280 (1-0076): `
        var text: String { name + (place.map { " (\($0))" } ?? "") + ": " }
    }

    /// In the order of their numbers, which is that of finding them and says nothing.
    private func devices(in folder: String, prefix: String) -> [Device] {
        let entries = tree.names(in: folder).filter { $0.hasPrefix(prefix) }
        var devices = entries.map { entry in
            let path = "\(folder)/\(entry)"
            let above = (tree.target(path) ?? "").split(separator: "/").dropLast().map(String.init)
            let name = tree.line(path + "/name") ?? tree.line(path + "/device/name") ?? entry
            return Device(folder: path, name: name, above: above, place: Self.place(in: above))
        }
        for (index, entry) in entries.enumerated() {
            let device = devices[index]
            let namesakes = devices.filter { $0.name == device.name }
            let isPlaced = device.place != nil && namesakes.count { $0.place == device.place } == 1
            let key = namesakes.count == 1 ? device.name : isPlaced ? device.place ?? entry : entry
            devices[index].key = [key, entry].first(where: Self.isKey).map(Self.quoted)
        }
        return devices
    }

    /// The innermost folder that is named by a bus, not by a class.
    private static func place(in above: [String]) -> String? {
        let classes = ["hwmon", "iio", "power_supply", "thermal", "platform"]
        let nearest = above.last { !classes.contains($0) }
        return nearest.flatMap { ["..", "devices", "virtual"].contains($0) ? nil : $0 }
    }

    /// In quotation marks where YAML would read something else.
    private static func quoted(_ name: String) -> String {
        let isPlain = name.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte)
                || (0x61...0x7a).contains(byte) || byte == 0x5f || byte == 0x2d
        }
        let startsPlain = name.first.map { $0.isLetter } ?? false
        if isPlain, startsPlain { return name }
        return "\"\(name)\""
    }

    /// Whether the configuration takes it, and between quotation marks as it is.
    private static func isKey(_ name: String) -> Bool {
        (1...40).contains(name.utf8.count) && plain(name) == name
            && !name.utf8.contains { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }
    }

    /// One line, of characters that libyaml takes and that end no line (YAML 1.1 §5.1, §5.4).
    private static func plain(_ text: String) -> String {
        let scalars = text.unicodeScalars.filter { scalar in
            switch scalar.value {
            case 0x20...0x7e: true
            case ..<0xa0, 0x2028, 0x2029, 0xfeff, 0xfffe, 0xffff: false
            default: true
            }
        }
        return String(String.UnicodeScalarView(scalars))
    }
}
