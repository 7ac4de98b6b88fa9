import Glibc
import NearbyCore
import Synchronization
import Telemetry

/// This machine itself: load, memory, disks, uptime, network counters, CPU use and temperature.
public final class SystemDriver: SensorDriver {
    public let name = "system"
    private let root: String
    private let disks: [String]
    /// Busy and all jiffies at the last sample.
    private let lastCPU = Mutex<(busy: Int64, all: Int64)?>(nil)

    /// `root` is where /proc and /sys are looked up; tests give another.
    public init(disks: [String], root: String = "") {
        self.disks = disks
        self.root = root
    }

    public func sample() -> [Measurement] {
        let all =
            load() + memory() + processor() + temperature() + uptime() + disks.map(disk) + network()
        return Array(all.prefix(Limits.channelsPerSensorMax))
    }

    private func load() -> [Measurement] {
        let channels = ["load.1m", "load.5m", "load.15m"]
        guard let words = lines("/proc/loadavg")?.first?.split(separator: " "), words.count >= 3
        else {
            return channels.map { Measurement($0, "1", .null(.absent)) }
        }
        return zip(channels, words).map { Measurement($0, "1", number: $1) }
    }

    /// Bytes, out of kibibytes.
    private func memory() -> [Measurement] {
        let wanted = [
            ("MemAvailable:", "memory.free"), ("MemTotal:", "memory.total"),
            ("SwapFree:", "swap.free"),
        ]
        let lines = lines("/proc/meminfo") ?? []
        return wanted.map { key, channel in
            let words = lines.first { $0.hasPrefix(key) }?.split(separator: " ") ?? []
            guard words.count >= 2, let kibibytes = Int64(words[1]), kibibytes < 1 << 52 else {
                return Measurement(channel, "B", .null(.absent))
            }
            return Measurement(channel, "B", kibibytes * 1_024)
        }
    }

    /// Per cent of all processors since the last sample; the first sample only takes the counters.
    private func processor() -> [Measurement] {
        let fields = lines("/proc/stat")?.first?.split(separator: " ").dropFirst().prefix(8)
        let jiffies = (fields ?? []).compactMap { Int64($0) }
        guard jiffies.count >= 5 else { return [Measurement("cpu.use", "%", .null(.absent))] }
        let all = jiffies.reduce(Int64(0)) { $0.addingSaturating($1) }
        let busy = all.subtractingSaturating(jiffies[3].addingSaturating(jiffies[4]))
        let last = lastCPU.withLock { last in
            defer { last = (busy, all) }
            return last
        }
        guard let last, all > last.all, busy >= last.busy else {
            return [Measurement("cpu.use", "%", .null(.warmingUp))]
        }
        let (scaled, overflow) = (busy - last.busy).multipliedReportingOverflow(by: 1_000)
        guard !overflow else { return [Measurement("cpu.use", "%", .null(.outOfRange))] }
        return [Measurement("cpu.use", "%", scaled / (all - last.all), exponent: -1)]
    }

    /// The first thermal zone, millidegrees; nothing where there is none.
    private func temperature() -> [Measurement] {
        guard let text = lines("/sys/class/thermal/thermal_zone0/temp")?.first,
            let millidegrees = Int64(text)
        else { return [] }
        return [Measurement("cpu.temperature", "Cel", millidegrees, exponent: -3)]
    }

    private func uptime() -> [Measurement] {
        guard let word = lines("/proc/uptime")?.first?.split(separator: " ").first else {
            return [Measurement("uptime", "s", .null(.absent))]
        }
        return [Measurement("uptime", "s", number: word)]
    }

    private func disk(_ path: String) -> Measurement {
        var status = statvfs()
        guard statvfs(path, &status) == 0, status.f_blocks > 0 else {
            return Measurement("disk.use \(path)", "%", .null(.absent))
        }
        let used = Double(status.f_blocks - min(status.f_bfree, status.f_blocks))
        let share = used / Double(status.f_blocks) * 1_000
        return Measurement("disk.use \(path)", "%", Int64(share), exponent: -1)
    }

    /// Bytes received and sent since boot, for each interface but loopback.
    private func network() -> [Measurement] {
        (lines("/proc/net/dev") ?? []).dropFirst(2).flatMap { line -> [Measurement] in
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { return [] }
            let name = parts[0].filter { $0 != " " }
            let fields = parts[1].split(separator: " ")
            guard name != "lo", fields.count >= 9 else { return [] }
            return [
                Measurement("net.\(name).in", "B", number: fields[0]),
                Measurement("net.\(name).out", "B", number: fields[8]),
            ]
        }
    }

    private func lines(_ path: String) -> [Substring]? {
        SensorFile.read(root + path, limit: 64 * 1_024)?.split(separator: "\n")
    }
}

/// Small text files of the kernel.
enum SensorFile {
    /// Nil if it cannot be read or is no text.
    static func read(_ path: String, limit: Int) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while bytes.count < limit {
            let count = Glibc.read(file, &buffer, buffer.count)
            guard count >= 0 else { return nil }
            if count == 0 { break }
            bytes += buffer[..<count]
        }
        return String(decoding: bytes.prefix(limit), as: UTF8.self)
    }
}
