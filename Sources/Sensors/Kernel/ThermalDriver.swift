import Sampling
import Telemetry

/// The kernel's thermal zones: the temperatures by which it slows the processor down. A channel for
/// each, `thermal.cpu-thermal` (Documentation/ABI/testing/sysfs-class-thermal; millidegrees).
public final class ThermalDriver: SensorDriver {
    private let root: String
    private let wanted: String?
    private let scan: DeviceScan

    /// `zone` is a type such as `cpu-thermal`, or a number; nil: all. `root` is where /sys is
    /// looked up; tests give another.
    public init(zone: String?, root: String = "") {
        wanted = zone
        self.root = root
        scan = DeviceScan(
            .init(word: "thermal", noun: "zone", prefix: "thermal.", unit: "Cel"), wanted: zone)
    }

    public var name: String { scan.name }

    public var diagnostic: String? { scan.diagnostic }

    public func sample() -> [Measurement] {
        let zones = KernelDevice.all(
            in: root + "/sys/class/thermal", prefix: "thermal_zone", nameFiles: ["type"]
        ).filter { $0.matches(wanted) }
        return scan.settle(
            zones.map { zone in
                let outcome: Outcome =
                    switch SensorFile.integer(zone.folder + "/temp") {
                    case .success(let millidegrees):
                        .value(DecimalValue(coefficient: millidegrees, exponent: -3))
                    case .failure(let fault): .null(fault.reason)
                    }
                return DeviceReadings(device: zone, values: [Measurement("", "Cel", outcome)])
            })
    }
}
