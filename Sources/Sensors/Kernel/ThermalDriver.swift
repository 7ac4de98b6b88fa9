import NearbyCore
import Synchronization
import Telemetry

/// The kernel's thermal zones: the temperatures by which it slows the processor down. A channel for
/// each, `thermal.cpu-thermal`.
public final class ThermalDriver: SensorDriver {
    public let name: String
    private let root: String
    private let wanted: String?
    private let roster = Mutex(DeviceRoster(prefix: "thermal."))

    /// `zone` is a type such as `cpu-thermal`, or a number; nil: all. `root` is where /sys is
    /// looked up; tests give another.
    public init(zone: String?, root: String = "") {
        name = zone.map { "thermal \($0)" } ?? "thermal"
        wanted = zone
        self.root = root
    }

    public func sample() -> [Measurement] {
        let zones = KernelDevice.all(
            in: root + "/sys/class/thermal", prefix: "thermal_zone", nameFiles: ["type"]
        ).filter { $0.matches(wanted) }
        let readings = zones.map { zone in
            let outcome: Outcome =
                switch SensorFile.integer(zone.folder + "/temp") {
                case .success(let millidegrees):
                    .value(DecimalValue(coefficient: millidegrees, exponent: -3))
                case .failure(let fault): .null(fault.reason)
                }
            return DeviceReadings(device: zone, values: [Measurement("", "Cel", outcome)])
        }
        let measurements = roster.withLock { $0.settle(readings, now: SensorClock.now()) }
        if measurements.isEmpty, let wanted {
            let channel = DeviceRoster.joined("thermal", KernelDevice.plain(wanted))
            return [Measurement(channel, "Cel", .null(.absent))]
        }
        return measurements
    }
}
