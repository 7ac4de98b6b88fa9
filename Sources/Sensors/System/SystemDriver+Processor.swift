import NearbyCore
import Sampling
import Synchronization
import Telemetry

/// The processor: how busy, how warm, how fast, and whether its supply holds.
extension SystemDriver {
    /// Per cent of all processors since the last sample; the first sample only takes the counters.
    /// Null if one of them is no number: those that follow must not take its place (proc_stat(5):
    /// user, nice, system, idle, iowait, irq, softirq, steal).
    func processor() -> [Measurement] {
        let words: [Substring]
        switch self.words("/proc/stat", at: 0) {
        case .failure(let fault): return [Measurement("cpu.use", "%", .null(fault.reason))]
        case .success(let all): words = all
        }
        let counters = words.dropFirst().prefix(8)
        let jiffies = counters.compactMap { Int($0).map { Int64($0) } }
        guard words.first == "cpu", jiffies.count >= 5, jiffies.count == counters.count else {
            return [Measurement("cpu.use", "%", .null(.malformed))]
        }
        let all = jiffies.reduce(Int64(0)) { $0.addingSaturating($1) }
        let busy = all.subtractingSaturating(jiffies[3].addingSaturating(jiffies[4]))
        let last = lastCPU.withLock { last in
            defer { last = (busy, all) }
            return last
        }
        guard let last, all > last.all, busy >= last.busy else {
            return [Measurement("cpu.use", "%", .null(.warmingUp))]
        }
        let (scaled, overflow) = busy.subtractingSaturating(last.busy)
            .multipliedReportingOverflow(by: 1_000)
        guard !overflow else { return [Measurement("cpu.use", "%", .null(.outOfRange))] }
        let share = scaled / all.subtractingSaturating(last.all)
        return [Measurement("cpu.use", "%", share, exponent: -1)]
    }

    /// The processor's thermal zone, otherwise the first, millidegrees; nothing where there is no
    /// zone.
    func temperature() -> [Measurement] {
        let zones = (0..<16).map { "/sys/class/thermal/thermal_zone\($0)" }
        let types = zones.map { zone in
            (zone, (try? words(zone + "/type", at: 0).get())?.first?.lowercased())
        }
        let present = types.filter { $0.1 != nil }
        let processor = present.first { _, type in
            ["cpu", "soc", "x86_pkg"].contains { type?.hasPrefix($0) == true }
        }
        guard let zone = (processor ?? present.first)?.0 else { return [] }
        guard case .success(let words) = words(zone + "/temp", at: 0), let word = words.first else {
            return [Measurement("cpu.temperature", "Cel", .null(.failed))]
        }
        guard let millidegrees = Int(word) else {
            return [Measurement("cpu.temperature", "Cel", .null(.malformed))]
        }
        return [Measurement("cpu.temperature", "Cel", Int64(millidegrees), exponent: -3)]
    }

    /// Hertz, for each group of processors that change together: `cpu.frequency`, and for a group
    /// that begins with processor 4 `cpu4.frequency`. Nothing where the frequency is fixed.
    func frequencies() -> [Measurement] {
        let folder = root + "/sys/devices/system/cpu/cpufreq"
        let first = SensorFile.names(in: folder).filter { $0.hasPrefix("policy") }
            .compactMap { Int($0.dropFirst(6)) }.sorted()
        return first.prefix(16).map { number in
            let channel = number == 0 ? "cpu.frequency" : "cpu\(number).frequency"
            switch SensorFile.integer("\(folder)/policy\(number)/scaling_cur_freq") {
            case .success(let kilohertz): return Measurement(channel, "Hz", kilohertz, exponent: 3)
            case .failure(let fault): return Measurement(channel, "Hz", .null(fault.reason))
            }
        }
    }

    /// 1 while a Raspberry Pi's supply is below 4.63 V or was within the last two seconds,
    /// otherwise 0 (the kernel's raspberrypi-hwmon driver); nothing on other boards.
    func undervoltage() -> [Measurement] {
        let chips = KernelDevice.all(in: root + "/sys/class/hwmon", prefix: "hwmon")
        guard let chip = chips.first(where: { $0.name == "rpi_volt" }) else { return [] }
        switch SensorFile.integer(chip.folder + "/in0_lcrit_alarm") {
        case .success(let flag): return [Measurement("undervoltage", "1", flag)]
        case .failure(let fault): return [Measurement("undervoltage", "1", .null(fault.reason))]
        }
    }
}
