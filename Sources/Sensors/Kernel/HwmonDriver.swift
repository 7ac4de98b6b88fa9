import NearbyCore
import Sampling
import Telemetry

/// Hardware monitoring: thermometers, voltages, currents, fans and whatever else the kernel's hwmon
/// drivers read.
///
/// Each sensor of a chip is a channel, `lm75.temp1`, or with its label `nvme.Composite`. A sensor
/// whose fault flag is set is null, because its number then means nothing. One with alarm flags has
/// a second channel that ends in `.alarm`: 1 while any of them is set, otherwise 0.
public final class HwmonDriver: SensorDriver {
    private let root: String
    private let wanted: String?
    private let scan: DeviceScan

    /// `device` is a chip's name, where it is attached (`1-0048`), or a number; nil: all but those
    /// that the kernel makes for 1-Wire thermometers, which the driver w1 reads better.
    /// `staleAfter` zero: as the part asks for. `root` is where /sys is looked up; tests give
    /// another.
    public init(
        device: String?, staleAfter: Duration = .zero, root: String = "",
        clock: @escaping @Sendable () -> Instant = SensorClock.now
    ) {
        wanted = device
        self.root = root
        scan = DeviceScan(
            .init(word: "hwmon", noun: "chip"), wanted: device, staleAfter: staleAfter,
            clock: clock)
    }

    public var name: String { scan.name }

    public var diagnostic: String? { scan.diagnostic }

    public func sample() -> [Measurement] {
        let all = KernelDevice.all(
            in: root + "/sys/class/hwmon", prefix: "hwmon", nameFiles: ["name", "device/name"])
        let devices = all.filter {
            $0.matches(wanted) && (wanted != nil || $0.name != "w1_slave_temp")
        }
        return scan.settle(devices.map(Self.read))
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
