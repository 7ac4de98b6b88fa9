import Glibc
import NearbyCore
import Sampling
import Telemetry

/// Power supplies: batteries, chargers and the mains, as /sys/class/power_supply has them
/// (Documentation/ABI/testing/sysfs-class-power). Channels such as `power.BAT0.voltage`.
public final class PowerDriver: SensorDriver {
    private let root: String
    private let wanted: String?
    private let scan: DeviceScan

    /// `supply` as the kernel names it, such as `BAT0`; nil: all. `root` is where /sys is looked
    /// up; tests give another.
    public init(supply: String?, root: String = "") {
        wanted = supply
        self.root = root
        scan = DeviceScan(
            .init(word: "power", noun: "supply", prefix: "power."), wanted: supply)
    }

    public var name: String { scan.name }

    public var diagnostic: String? { scan.diagnostic }

    public func sample() -> [Measurement] {
        let parent = root + "/sys/class/power_supply"
        let entries = SensorFile.names(in: parent).filter { wanted == nil || $0 == wanted }
        return scan.settle(
            entries.prefix(Limits.kernelDevicesMax).map { Self.read($0, in: parent) })
    }

    private static func read(_ entry: String, in parent: String) -> DeviceReadings {
        let folder = "\(parent)/\(entry)"
        let plain = KernelDevice.plain(entry)
        let device = KernelDevice(
            entry: plain, folder: folder, name: plain, label: nil, location: plain)
        var readings = DeviceReadings(device: device, values: [])
        // An empty slot for a battery.
        let isThere = SensorFile.integer(folder + "/present")
        for (file, channel, unit, exponent) in numbers {
            let outcome: Outcome
            switch SensorFile.integer("\(folder)/\(file)") {
            case .success(let number):
                outcome = .value(DecimalValue(coefficient: number, exponent: exponent))
            // Files that are there for all supplies of a kind, whether this one knows it or not.
            case .failure(let fault) where [ENODATA, ENOENT, EINVAL].contains(fault.code): continue
            case .failure(let fault): outcome = .null(fault.reason)
            }
            let isGone = isThere.isZero && file != "present" && file != "online"
            let flag = Measurement(channel, unit, isGone ? .null(.absent) : outcome)
            if unit == "1" { readings.flags.append(flag) } else { readings.values.append(flag) }
        }
        readings.flags += words.compactMap { file, channel, meanings in
            guard case .success(let word) = SensorFile.attribute("\(folder)/\(file)") else {
                return nil
            }
            let meaning = meanings[word] ?? (word == "Unknown" ? nil : meanings["*"])
            let outcome = meaning.map { Outcome.value(DecimalValue(coefficient: $0)) }
            return Measurement(channel, "1", outcome ?? .null(.unspecified))
        }
        return readings
    }

    /// Microvolts, microamperes (negative while a battery discharges), microwatts, microwatt-hours,
    /// microampere-hours, seconds; temperatures in tenths of a degree. `online` is 2 where the
    /// voltage can be programmed.
    private static let numbers: [(file: String, channel: String, unit: String, exponent: Int8)] = [
        ("online", "online", "1", 0),
        ("present", "present", "1", 0),
        ("capacity", "level", "%EL", 0),
        ("voltage_now", "voltage", "V", -6),
        ("current_now", "current", "A", -6),
        ("power_now", "power", "W", -6),
        ("energy_now", "energy", "Wh", -6),
        ("charge_now", "charge", "Ah", -6),
        ("temp", "temperature", "Cel", -1),
        ("cycle_count", "cycles", "count", 0),
        ("time_to_empty_now", "time-to-empty", "s", 0),
        ("time_to_full_now", "time-to-full", "s", 0),
    ]

    /// States as numbers; `*` is any other word but `Unknown`, and what is not here is null.
    private static let words: [(file: String, channel: String, meanings: [String: Int64])] = [
        (
            "status", "charging",
            ["Charging": 1, "Discharging": -1, "Not charging": 0, "Full": 0]
        ),
        ("health", "healthy", ["Good": 1, "*": 0]),
    ]
}

extension Result where Success == Int64 {
    fileprivate var isZero: Bool { if case .success(0) = self { true } else { false } }
}
