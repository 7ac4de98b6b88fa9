import NearbyCore
import Sampling
import Telemetry

/// What one look at a device gave.
struct DeviceReadings: Sendable {
    var device: KernelDevice
    /// Its quantities, each named without the device.
    var values: [Measurement]
    /// States such as alarms: they may stay as they are for years.
    var flags: [Measurement] = []
}

/// The devices that a driver of kernel files has met in this run.
///
/// It gives each its name, judges what it said, and remembers its channels, so that those of a
/// device that has vanished are null and nobody takes their last value for a present one.
struct DeviceRoster: Sendable {
    /// Begins every channel's name.
    var prefix = ""
    /// Zero: as the part asks for (`SensorPart.staleAfter`).
    var staleAfter: Duration = .zero

    /// By name, location and entry: which name a device has.
    private var names: [String: String] = [:]
    private var watch = FrozenWatch()
    private var seen = SeenChannels()

    /// Channels that were left out of the last look because there were too many.
    var leftOutCount: Int { seen.leftOutCount }

    init(prefix: String = "", staleAfter: Duration = .zero) {
        self.prefix = prefix
        self.staleAfter = staleAfter
    }

    /// All channels of this run: those just read, marked where they cannot be true, and a null for
    /// each that is missing.
    mutating func settle(_ readings: [DeviceReadings], now: Instant) -> [Measurement] {
        name(readings.map(\.device))
        let measurements = readings.flatMap { reading -> [Measurement] in
            let name = names[Self.key(reading.device)] ?? reading.device.entry
            let values = judged(reading, name, now)
            return (values + reading.flags).map { measurement in
                var named = measurement
                named.channel = Self.joined(prefix + name, measurement.channel)
                return named
            }
        }
        return seen.completing(measurements)
    }

    /// Those of a device that cannot be in the part's range, or that repeat themselves for too
    /// long, are null.
    private mutating func judged(
        _ reading: DeviceReadings, _ name: String, _ now: Instant
    ) -> [Measurement] {
        let part = SensorPart.named(reading.device.name)
        let values = reading.values.map { measurement in
            guard let value = measurement.outcome.value,
                part?.admits(value, measurement.unit) == false
            else { return measurement }
            var marked = measurement
            marked.outcome = .null(.outOfRange)
            return marked
        }
        let limit = staleAfter > .zero ? staleAfter : part?.staleAfter
        guard watch.isFrozen(name, values, limit: limit, now: now) else { return values }
        return values.map { measurement in
            guard measurement.outcome.value != nil else { return measurement }
            var marked = measurement
            marked.outcome = .null(.frozen)
            return marked
        }
    }

    /// A device keeps its name for this run. Two of one name in sight are told apart by where they
    /// are attached: `bme280@1-0076`; who comes later than a namesake is told apart alone.
    private mutating func name(_ devices: [KernelDevice]) {
        let new = devices.filter { names[Self.key($0)] == nil }
        guard !new.isEmpty else { return }
        if names.count > 4 * Limits.kernelDevicesMax { names = [:] }
        for device in new {
            let plain = device.label ?? device.name
            let namesakes = new.filter { ($0.label ?? $0.name) == plain }.count
            let isAlone = namesakes == 1 && !names.values.contains(plain)
            names[Self.key(device)] = isAlone ? plain : "\(plain)@\(device.location)"
        }
    }

    /// A device that is attached where it was is the same one, whatever its number now is.
    private static func key(_ device: KernelDevice) -> String {
        "\(device.name)@\(device.location)"
    }

    /// `device.quantity`, the device cut to what a channel's name has room for; characters that
    /// have no place in it become `?`.
    static func joined(_ device: String, _ quantity: String) -> String {
        var (device, quantity) = (KernelDevice.printable(device), KernelDevice.printable(quantity))
        let bytesMax = Limits.channelNameBytes.upperBound - 1
        while device.utf8.count + quantity.utf8.count > bytesMax {
            if device.isEmpty { quantity.removeLast() } else { device.removeLast() }
        }
        return quantity.isEmpty ? device : "\(device).\(quantity)"
    }
}

/// The channels that a driver has given in this run.
struct SeenChannels: Sendable {
    private var channels: [(name: String, unit: String)] = []
    /// How many did not fit the last time.
    private(set) var leftOutCount = 0

    /// These, then a null for each earlier one that is not among them; at most
    /// `Limits.channelsPerSensorMax`, for which the missing ones make room first.
    mutating func completing(_ measurements: [Measurement]) -> [Measurement] {
        var names: Set<String> = []
        let present = measurements.prefix(Limits.channelsPerSensorMax).map { measurement in
            var named = measurement
            named.channel = Self.own(measurement.channel, &names)
            return named
        }
        leftOutCount = measurements.count - present.count
        let missing = channels.filter { !names.contains($0.name) }
            .suffix(Limits.channelsPerSensorMax - present.count)
        channels = missing + present.map { ($0.channel, $0.unit) }
        return present + missing.map { Measurement($0.name, $0.unit, .null(.absent)) }
    }

    /// Two sensors may have one label, and names that were cut may have become the same: whoever
    /// comes later gets a number.
    static func own(_ name: String, _ taken: inout Set<String>) -> String {
        var own = name
        var number = 2
        while !taken.insert(own).inserted {
            own = DeviceRoster.joined(name, "\(number)")
            number += 1
        }
        return own
    }
}
