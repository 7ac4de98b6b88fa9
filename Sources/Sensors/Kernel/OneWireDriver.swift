import NearbyCore
import Sampling
import Synchronization
import Telemetry

/// Thermometers on 1-Wire buses: DS18B20 and its relatives, a channel each, `w1.28-0001a0115e01`.
///
/// Several on one bus convert at the same time, so that a bus of ten takes one second and not
/// eight. One that does not answer is null and costs the others nothing.
///
/// Source: the kernel's Documentation/w1/slaves/w1_therm.rst and drivers/w1/slaves/w1_therm.c.
public final class OneWireDriver: SensorDriver {
    public let name: String
    private let root: String
    private let ids: [String]
    private let clock: @Sendable () -> Instant
    private let state: Mutex<State>

    private struct State {
        var roster: DeviceRoster
        /// Millidegrees that were believed last, by id.
        var believed: [String: Int64] = [:]
        /// For `diagnostic`.
        var diagnostic: String?
    }

    /// `ids` as the kernel writes them, such as `28-0001a0115e01`; none: all there are.
    /// `staleAfter` zero: never. `root` is where /sys is looked up; tests give another.
    public init(
        ids: [String] = [], staleAfter: Duration = .zero, root: String = "",
        clock: @escaping @Sendable () -> Instant = SensorClock.now
    ) {
        name = ids.count == 1 ? "w1 \(ids[0])" : "w1"
        self.ids = ids
        self.root = root
        self.clock = clock
        state = Mutex(State(roster: DeviceRoster(prefix: "w1.", staleAfter: staleAfter)))
    }

    public var diagnostic: String? { state.withLock { $0.diagnostic } }

    public func sample() -> [Measurement] {
        let folder = root + "/sys/bus/w1/devices"
        let names = SensorFile.names(in: folder)
        let present = names.filter { OneWireFamily.part(of: $0) != nil }
        let wanted = (ids.isEmpty ? present : ids).prefix(Limits.channelsPerSensorMax)
        var fault: SensorFile.Fault?
        if wanted.filter(present.contains).count > 1 {
            fault = convertAll(names.filter { $0.hasPrefix("w1_bus_master") }, in: folder)
        }
        var believed = state.withLock { $0.believed }
        let readings = wanted.map { id in
            let outcome =
                present.contains(id)
                ? Self.read(id, in: folder, last: believed[id]) : .null(.absent)
            if let value = outcome.value { believed[id] = value.coefficient }
            return DeviceReadings(
                device: Self.device(id), values: [Measurement("", "Cel", outcome)])
        }
        return state.withLock { state in
            state.believed = believed.filter { wanted.contains($0.key) }
            state.diagnostic = Self.diagnostic(readings, fault)
            return state.roster.settle(readings, now: clock())
        }
    }

    /// Lets all thermometers of these buses convert at once; the kernel returns when they are done,
    /// and the next `w1_slave` of each gives what came of it. Where that fails, each is converted
    /// when it is read: why it failed, for the diagnostic.
    private func convertAll(_ buses: [String], in folder: String) -> SensorFile.Fault? {
        var fault: SensorFile.Fault?
        for bus in buses {
            let file = "\(folder)/\(bus)/therm_bulk_read"
            if case .failure(let failure) = SensorFile.write(file, "trigger\n") { fault = failure }
        }
        return fault
    }

    /// `w1_slave` rather than `temperature`: it has the whole memory, which tells more.
    private static func read(_ id: String, in parent: String, last: Int64?) -> Outcome {
        let folder = "\(parent)/\(id)"
        switch scratchpad(folder) {
        case .failure(let fault): return .null(fault.reason)
        case .success(let first):
            if OneWireFamily.isDS1825(id), first.isThermocouple { return thermocouple(first) }
            guard first.isPowerOnValue else { return value(first) }
            if isPlausible(first, last) { return value(first) }
            // It was without power a moment ago; what it converts now is true.
            guard case .success(let second) = scratchpad(folder) else { return .null(.warmingUp) }
            return !second.isPowerOnValue || isPlausible(second, last)
                ? value(second) : .null(.warmingUp)
        }
    }

    /// Whether 85 °C exactly may be meant: its memory says that it comes of a conversion, or it was
    /// within 10 °C of it before.
    private static func isPlausible(_ pad: OneWireScratchpad, _ last: Int64?) -> Bool {
        if let last, (75_000...95_000).contains(last) { return true }
        return pad.provesConversion
    }

    /// One that is torn off or shorted says so beside its number. It has no power-on value.
    private static func thermocouple(_ pad: OneWireScratchpad) -> Outcome {
        pad.isThermocoupleFault
            ? .null(.failed) : .value(DecimalValue(coefficient: pad.millidegrees, exponent: -3))
    }

    private static func value(_ pad: OneWireScratchpad) -> Outcome {
        pad.isBrokenConversion
            ? .null(.failed) : .value(DecimalValue(coefficient: pad.millidegrees, exponent: -3))
    }

    private static func scratchpad(
        _ folder: String
    ) -> Result<OneWireScratchpad, SensorFile.Fault> {
        SensorFile.read(folder + "/w1_slave", limit: 4_096).flatMap { text in
            if SensorFile.trimmed(text).isEmpty { return .failure(silence(folder)) }
            guard let pad = OneWireScratchpad(parsing: text) else {
                return .failure(SensorFile.Fault(reason: .malformed))
            }
            return pad.isChecked ? .success(pad) : .failure(SensorFile.Fault(reason: .checksum))
        }
    }

    /// Why the kernel gave nothing, and no error: five tries without a right checksum, or without
    /// anybody there. It is asked for the resolution, which the thermometer itself has to answer:
    /// if it does, the bus is bad and the checksum was wrong. If not (−5: again no right checksum,
    /// as from a bus on which only others answer; −19: nobody at all), it is gone.
    private static func silence(_ folder: String) -> SensorFile.Fault {
        if case .success(let bits) = SensorFile.integer(folder + "/resolution"), bits < 0 {
            return SensorFile.Fault(reason: .absent)
        }
        return SensorFile.Fault(reason: .checksum)
    }

    /// The id is all its names: there are no two of one.
    private static func device(_ id: String) -> KernelDevice {
        KernelDevice(
            entry: id, folder: "", name: OneWireFamily.part(of: id) ?? id, label: id, location: id)
    }

    private static func diagnostic(
        _ readings: [DeviceReadings], _ fault: SensorFile.Fault?
    ) -> String {
        if readings.isEmpty { return "no thermometer on any bus" }
        var text = "\(readings.count) thermometers"
        let silent = readings.filter { $0.values.allSatisfy { $0.outcome.value == nil } }
        if !silent.isEmpty {
            let ids = silent.prefix(4).map(\.device.entry).joined(separator: ", ")
            text += ", \(silent.count) without an answer: \(ids)"
        }
        guard let fault else { return text }
        let why = fault.reason == .denied ? "therm_bulk_read is root's" : "no therm_bulk_read"
        return text + "; converted one after the other: \(why)"
    }
}
