import NearbyCore
import Telemetry

extension Limits {
    /// Devices of one class that a driver looks at; those with higher numbers are left out.
    static let kernelDevicesMax = 64
}

/// A device as a class of sysfs shows it: `/sys/bus/iio/devices/iio:device0`.
struct KernelDevice: Sendable {
    /// `iio:device0`, `hwmon3`: given in the order of probing, so another one after each boot.
    var entry: String
    var folder: String
    /// What the kernel's driver says of itself, usually the part: `bme280`.
    var name: String
    /// What the device tree calls it.
    var label: String?
    /// Where it is attached: `1-0076` for I²C bus 1, address 0x76. The same after each boot.
    var location: String

    /// Those whose entries begin with `prefix` and have a name in the first of the `nameFiles` that
    /// is there, by number.
    static func all(
        in parent: String, prefix: String, nameFiles: [String] = ["name"]
    ) -> [KernelDevice] {
        let entries = SensorFile.names(in: parent).filter { $0.hasPrefix(prefix) }
        let numbered = entries.map { (entry: $0, number: Int($0.dropFirst(prefix.count)) ?? .max) }
        let sorted = numbered.sorted { ($0.number, $0.entry) < ($1.number, $1.entry) }
        let devices = sorted.prefix(Limits.kernelDevicesMax).map { entry, _ in
            let folder = "\(parent)/\(entry)"
            let name = nameFiles.lazy.compactMap { text("\(folder)/\($0)") }.first
            let location = location(of: folder, entry: entry)
            // Some drivers give the address for a name; their bus knows the part: hdc100x, si7020.
            let part = name == location ? text("\(folder)/../name") : nil
            return KernelDevice(
                entry: entry, folder: folder, name: part ?? name ?? plain(entry),
                label: text("\(folder)/label"), location: location)
        }
        // One chip may be several devices.
        return devices.map { device in
            let namesakes = devices.filter {
                $0.name == device.name && $0.location == device.location
            }
            var device = device
            if namesakes.count > 1 { device.location += ".\(device.entry)" }
            return device
        }
    }

    /// Whether `wanted` is its name, label, location, entry or number; nil means every device.
    func matches(_ wanted: String?) -> Bool {
        guard let wanted else { return true }
        if [name, label, location, entry].contains(wanted) { return true }
        let number = entry.drop { !$0.isNumber }
        return !number.isEmpty && number == wanted
    }

    /// Characters that have a place in a channel's name; the rest becomes `?`.
    static func plain(_ text: String) -> String {
        printable(text.utf8.count <= 40 ? text : String(text.unicodeScalars.prefix(40)))
    }

    /// The same, however long it is.
    static func printable(_ text: String) -> String {
        let isControl = { (byte: UInt8) in byte < 0x20 || byte == 0x7f }
        // As good as always.
        if !text.utf8.contains(where: isControl) { return text }
        let bytes = text.utf8.map { isControl($0) ? UInt8(ascii: "?") : $0 }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func text(_ path: String) -> String? {
        (try? SensorFile.attribute(path).get()).map(plain)
    }

    /// The nearest folder above that is not named after a class: what the bus calls the device.
    private static func location(of folder: String, entry: String) -> String {
        let classes = ["hwmon", "iio", "power_supply", "thermal", "devices", "class", "platform"]
        let above = SensorFile.resolved(folder)?.split(separator: "/").dropLast() ?? []
        guard let nearest = above.last(where: { !classes.contains(String($0)) }),
            !["sys", "virtual", "bus"].contains(nearest)
        else { return plain(entry) }
        return plain(String(nearest))
    }
}
