import NearbyCore
import Synchronization
import Telemetry

/// Hardware monitoring: thermometers, voltages, currents, fans and whatever else the kernel's hwmon
/// drivers read.
///
/// Each sensor of a chip is a channel, `lm75.temp1`, or with its label `nvme.Composite`. A sensor
/// whose fault flag is set is null, because its number then means nothing. One with alarm flags has
/// a second channel that ends in `.alarm`: 1 while any of them is set, otherwise 0.
public final class HwmonDriver: SensorDriver {
    public let name: String
    private let root: String
    private let wanted: String?
    private let clock: @Sendable () -> Instant
    private let state: Mutex<(roster: DeviceRoster, deviceCount: Int)>

    /// `device` is a chip's name, where it is attached (`1-0048`), or a number; nil: all but those
    /// that the kernel makes for 1-Wire thermometers, which the driver w1 reads better.
    /// `staleAfter` zero: as the part asks for. `root` is where /sys is looked up; tests give
    /// another.
    public init(
        device: String?, staleAfter: Duration = .zero, root: String = "",
        clock: @escaping @Sendable () -> Instant = SensorClock.now
    ) {
        name = device.map { "hwmon \($0)" } ?? "hwmon"
        wanted = device
        self.root = root
        self.clock = clock
        state = Mutex((DeviceRoster(staleAfter: staleAfter), 0))
    }

    public var remark: String? {
        let (count, leftOut) = state.withLock { ($0.deviceCount, $0.roster.leftOutCount) }
        let some = leftOut == 0 ? "" : "; \(leftOut) channels left out, there are too many"
        return count == 0 ? "no such chip" : "\(count) chips" + some
    }

    public func sample() -> [Measurement] {
        let all = KernelDevice.all(
            in: root + "/sys/class/hwmon", prefix: "hwmon", nameFiles: ["name", "device/name"])
        let devices = all.filter {
            $0.matches(wanted) && (wanted != nil || $0.name != "w1_slave_temp")
        }
        let readings = devices.map(Self.read)
        return state.withLock { state in
            state.deviceCount = devices.count
            let measurements = state.roster.settle(readings, now: clock())
            if measurements.isEmpty, let wanted {
                return [Measurement(KernelDevice.plain(wanted), "1", .null(.absent))]
            }
            return measurements
        }
    }

    private static func read(_ device: KernelDevice) -> DeviceReadings {
        var readings = DeviceReadings(device: device, values: [])
        let attributes = SensorFile.names(in: device.folder)
        for sensor in HwmonSensor.all(in: attributes) {
            let name = sensor.name(in: device.folder)
            if let value = sensor.value(in: device.folder) {
                readings.values.append(Measurement(name, sensor.quantity.unit, value))
            }
            if let alarm = sensor.alarm(in: device.folder) {
                // An intrusion is nothing but its alarm.
                let channel = sensor.quantity.isFlag ? name : name + ".alarm"
                readings.flags.append(Measurement(channel, "1", alarm))
            }
        }
        return readings
    }
}
