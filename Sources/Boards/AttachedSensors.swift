/// What is attached to this machine, found by looking through /sys and /dev; nothing is opened that
/// is not a small file, and no bus is spoken to.
public struct AttachedSensors {
    private let tree: SystemTree

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
            if !drivers.contains(entry.driver) {
                text += "  # not in this version: - {driver: \(entry.driver)\(entry.text)}\n"
            } else {
                let mark = finding.isReady ? "" : "# "
                text += "  \(mark)- {driver: \(entry.driver)\(entry.text)}\n"
            }
        }
        return text
    }

    var findings: [Finding] {
        [system] + iio + hwmon + thermal + w1 + power + wifi + gpio + i2c + serial + bluetooth
    }

    // MARK: What kernel drivers read

    private var system: Finding {
        Finding(
            what: "this machine: load, memory, disks, network, processor",
            entry: ("system", ", every: 30s"))
    }

    private var iio: [Finding] {
        let folder = "/sys/bus/iio/devices"
        let devices = tree.names(in: folder).filter { $0.hasPrefix("iio:device") }
        let names = devices.map { tree.line("\(folder)/\($0)/name") ?? $0 }
        return zip(devices, names).map { device, name in
            let channels = Self.channels(in: tree.names(in: "\(folder)/\(device)"))
            let isOnly = names.count { $0 == name } == 1
            return Finding(
                what: "\(name)\(place(of: "\(folder)/\(device)")): "
                    + (channels.isEmpty ? "no channels" : channels.joined(separator: ", ")),
                entry: channels.isEmpty
                    ? nil : ("iio", ", device: \(Self.quoted(isOnly ? name : device)), every: 10s"))
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

    /// Thermal zones and power supplies show themselves as hwmon too; they have their own drivers.
    private var hwmon: [Finding] {
        let folder = "/sys/class/hwmon"
        let devices = tree.names(in: folder).filter { device in
            let parent = tree.target("\(folder)/\(device)/device") ?? ""
            return !parent.contains("thermal_zone") && !parent.contains("power_supply")
        }
        let names = devices.map { tree.line("\(folder)/\($0)/name") ?? $0 }
        return zip(devices, names).compactMap { device, name in
            let values = tree.names(in: "\(folder)/\(device)").filter {
                $0.hasSuffix("_input") || $0.hasSuffix("_alarm")
            }
            guard !values.isEmpty else { return nil }
            let isOnly = names.count { $0 == name } == 1
            return Finding(
                what: "\(name)\(place(of: "\(folder)/\(device)/device")): "
                    + values.joined(separator: ", "),
                entry: ("hwmon", ", device: \(Self.quoted(isOnly ? name : device)), every: 30s"))
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
        }.map { Finding(what: "Wi-Fi: \($0)") }
    }

    // MARK: Names

    /// ` (1-0076)`: the device that it hangs on.
    private func place(of path: String) -> String {
        let parts = (tree.target(path) ?? "").split(separator: "/")
        let own = parts.last.map(String.init) ?? ""
        let device = own.hasPrefix("iio:") ? parts.dropLast().last.map(String.init) ?? "" : own
        return device.isEmpty || device == ".." ? "" : " (\(device))"
    }

    /// In quotation marks where YAML would read something else.
    private static func quoted(_ name: String) -> String {
        let isPlain = name.utf8.allSatisfy { byte in
            (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte)
                || (0x61...0x7a).contains(byte) || byte == 0x5f || byte == 0x2d
        }
        let startsPlain = name.first.map { $0.isLetter } ?? false
        if isPlain, startsPlain { return name }
        return "\"" + name.filter { $0 != "\"" && $0 != "\\" } + "\""
    }

    /// One line of a comment.
    private static func plain(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7f }))
    }
}

// MARK: What somebody has to name

extension AttachedSensors {
    private var gpio: [Finding] {
        let chips = tree.gpioChips
        guard !chips.isEmpty else { return [] }
        return [
            Finding(
                what: "GPIO chips: " + chips.map(\.text).joined(separator: "; ")
                    + ". What is wired to a pin cannot be seen:",
                entry: ("gpio", ", pin: GPIO17, name: door, edges: both, bias: pull-up"),
                isReady: false)
        ]
    }

    private var i2c: [Finding] {
        let folder = "/sys/bus/i2c/devices"
        let devices = tree.names(in: folder)
        let buses = devices.filter { $0.hasPrefix("i2c-") }
        guard !buses.isEmpty else { return [] }
        let names = buses.map { bus in
            tree.line("\(folder)/\(bus)/name").map { "\(bus) (\($0))" } ?? bus
        }
        let without = devices.filter { device in
            !device.hasPrefix("i2c-") && !tree.exists("\(folder)/\(device)/driver")
        }.map { device in
            Finding(
                what:
                    "I²C device \(device) (\(tree.line("\(folder)/\(device)/name") ?? "unnamed")) "
                    + "has no kernel driver: is its module there?")
        }
        return without + [
            Finding(
                what: "I²C buses: " + names.joined(separator: ", ")
                    + ". Addresses are not tried out: reading from a chip that one does not know "
                    + "can change it. `rivulet board` has the overlays that bring kernel drivers; "
                    + "`i2cdetect -y 1` tries, if you know what is on the bus.")
        ]
    }

    private var serial: [Finding] {
        let folder = "/dev/serial/by-id"
        return tree.names(in: folder).map { name in
            Finding(
                what: "serial port \(name):",
                entry: (
                    "serial", ", device: \"\(folder)/\(name.filter { $0 != "\"" && $0 != "\\" })\""
                ), isReady: false)
        }
    }

    private var bluetooth: [Finding] {
        let controllers = tree.names(in: "/sys/class/bluetooth").filter {
            $0.hasPrefix("hci") && !$0.contains(":")
        }
        guard !controllers.isEmpty else { return [] }
        return [
            Finding(
                what: "Bluetooth: " + controllers.joined(separator: ", ")
                    + ". Thermometers that advertise are heard by:",
                entry: ("ble", ", every: 30s"), isReady: false)
        ]
    }
}
