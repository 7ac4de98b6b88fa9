import NearbyCore
import Sampling
import Synchronization
import Telemetry

/// What a driver of kernel files does with what it has read: it keeps the roster of its devices,
/// and tells how many there are.
final class DeviceScan: Sendable {
    /// The driver's: its kind, and which device it reads.
    let name: String
    private let wanted: String?
    private let kind: Kind
    private let clock: @Sendable () -> Instant
    private let state: Mutex<(roster: DeviceRoster, deviceCount: Int)>

    /// What is looked for.
    struct Kind: Sendable {
        /// In the driver's name.
        var word: String
        /// One of them, for people.
        var noun: String
        /// Begins every channel's name.
        var prefix = ""
        /// Of the channel that stands in for a device that has never been there.
        var unit = "1"
    }

    /// `wanted` is nil where all devices are read; `staleAfter` zero: as the part asks for.
    init(
        _ kind: Kind, wanted: String?, staleAfter: Duration = .zero,
        clock: @escaping @Sendable () -> Instant = SensorClock.now
    ) {
        name = wanted.map { "\(kind.word) \($0)" } ?? kind.word
        self.wanted = wanted
        self.kind = kind
        self.clock = clock
        state = Mutex((DeviceRoster(prefix: kind.prefix, staleAfter: staleAfter), 0))
    }

    var diagnostic: String? {
        let (count, leftOut) = state.withLock { ($0.deviceCount, $0.roster.leftOutCount) }
        let some = leftOut == 0 ? "" : "; \(leftOut) channels left out, there are too many"
        return count == 0 ? "no such \(kind.noun)" : "\(count) \(plural(count))" + some
    }

    private func plural(_ count: Int) -> String {
        if count == 1 { return kind.noun }
        return kind.noun.hasSuffix("y") ? String(kind.noun.dropLast()) + "ies" : kind.noun + "s"
    }

    /// All channels of this run, as `DeviceRoster.settle`; a null where the device that is wanted
    /// has never been there.
    func settle(_ readings: [DeviceReadings]) -> [Measurement] {
        state.withLock { state in
            state.deviceCount = readings.count
            let measurements = state.roster.settle(readings, now: clock())
            guard measurements.isEmpty, let wanted else { return measurements }
            let channel = DeviceRoster.joined(kind.prefix + KernelDevice.plain(wanted), "")
            return [Measurement(channel, kind.unit, .null(.absent))]
        }
    }
}
