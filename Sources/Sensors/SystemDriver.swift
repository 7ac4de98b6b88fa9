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

    private static let thermalZonesMax = 16

    /// `root` is where /proc and /sys are looked up; tests give another.
    public init(disks: [String], root: String = "") {
        self.disks = disks
        self.root = root
    }

    public func sample() -> [Measurement] {
        let all =
            load() + memory() + processor() + temperature() + uptime() + disks.flatMap(disk)
            + network()
        return Array(all.prefix(Limits.channelsPerSensorMax))
    }

    private func load() -> [Measurement] {
        let channels = ["load.1m", "load.5m", "load.15m"]
        let words = words("/proc/loadavg", at: 0)
        return channels.enumerated().map { index, channel in
            measurement(channel, "1", words, at: index)
        }
    }

    /// Bytes, out of kibibytes.
    private func memory() -> [Measurement] {
        let wanted = [
            ("MemAvailable:", "memory.free"), ("MemTotal:", "memory.total"),
            ("SwapFree:", "swap.free"), ("SwapTotal:", "swap.total"),
        ]
        let lines = lines("/proc/meminfo")
        return wanted.map { key, channel in
            switch lines {
            case .failure(let fault): return Measurement(channel, "B", .null(fault.reason))
            case .success(let lines):
                guard let line = lines.first(where: { $0.hasPrefix(key) }) else {
                    return Measurement(channel, "B", .null(.absent))
                }
                let words = line.split(separator: " ")
                guard words.count >= 2, let kibibytes = Int64(words[1]),
                    (0..<1 << 52).contains(kibibytes)
                else { return Measurement(channel, "B", .null(.malformed)) }
                return Measurement(channel, "B", kibibytes * 1_024)
            }
        }
    }

    /// Per cent of all processors since the last sample; the first sample only takes the counters.
    private func processor() -> [Measurement] {
        let words: [Substring]
        switch self.words("/proc/stat", at: 0) {
        case .failure(let fault): return [Measurement("cpu.use", "%", .null(fault.reason))]
        case .success(let all): words = all
        }
        let jiffies = words.dropFirst().prefix(8).compactMap { Int64($0) }
        guard words.first == "cpu", jiffies.count >= 5 else {
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
        let (scaled, overflow) = (busy - last.busy).multipliedReportingOverflow(by: 1_000)
        guard !overflow else { return [Measurement("cpu.use", "%", .null(.outOfRange))] }
        return [Measurement("cpu.use", "%", scaled / (all - last.all), exponent: -1)]
    }

    /// The processor's thermal zone, otherwise the first, millidegrees; nothing where there is no
    /// zone.
    private func temperature() -> [Measurement] {
        let zones = (0..<Self.thermalZonesMax).map { "/sys/class/thermal/thermal_zone\($0)" }
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
        guard let millidegrees = Int64(word) else {
            return [Measurement("cpu.temperature", "Cel", .null(.malformed))]
        }
        return [Measurement("cpu.temperature", "Cel", millidegrees, exponent: -3)]
    }

    private func uptime() -> [Measurement] {
        [measurement("uptime", "s", words("/proc/uptime", at: 0), at: 0)]
    }

    /// What programs without privileges can still write, and the share that is taken.
    private func disk(_ path: String) -> [Measurement] {
        var status = statvfs()
        guard statvfs(path, &status) == 0, status.f_blocks > 0 else {
            let reason: NullReason = errno == EACCES ? .denied : .absent
            return [
                Measurement("disk.use \(path)", "%", .null(reason)),
                Measurement("disk.free \(path)", "B", .null(reason)),
            ]
        }
        let used = Double(status.f_blocks - min(status.f_bfree, status.f_blocks))
        let share = used / Double(status.f_blocks) * 1_000
        let (bytes, overflow) = UInt64(status.f_bavail).multipliedReportingOverflow(
            by: UInt64(status.f_frsize))
        return [
            Measurement("disk.use \(path)", "%", Int64(share), exponent: -1),
            overflow
                ? Measurement("disk.free \(path)", "B", .null(.outOfRange))
                : Measurement("disk.free \(path)", "B", Int64(clamping: bytes)),
        ]
    }

    /// Bytes received and sent since boot, for each interface but loopback.
    private func network() -> [Measurement] {
        let lines: [Substring]
        switch self.lines("/proc/net/dev") {
        case .failure(let fault):
            return [
                Measurement("net.received", "B", .null(fault.reason)),
                Measurement("net.sent", "B", .null(fault.reason)),
            ]
        case .success(let all): lines = all
        }
        return lines.dropFirst(2).flatMap { line -> [Measurement] in
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { return [] }
            let name = parts[0].filter { $0 != " " }
            let fields = parts[1].split(separator: " ")
            guard name != "lo", fields.count >= 9 else { return [] }
            return [
                Measurement("net.\(name).received", "B", number: fields[0]),
                Measurement("net.\(name).sent", "B", number: fields[8]),
            ]
        }
    }

    // MARK: Files

    private func measurement(
        _ channel: String, _ unit: String, _ words: Result<[Substring], SensorFile.Fault>,
        at index: Int
    ) -> Measurement {
        switch words {
        case .failure(let fault): Measurement(channel, unit, .null(fault.reason))
        case .success(let words):
            words.indices.contains(index)
                ? Measurement(channel, unit, number: words[index])
                : Measurement(channel, unit, .null(.malformed))
        }
    }

    /// The words of a line; none if there is no such line.
    private func words(
        _ path: String, at line: Int
    ) -> Result<[Substring], SensorFile.Fault> {
        lines(path).map { lines in
            lines.indices.contains(line) ? lines[line].split(separator: " ") : []
        }
    }

    private func lines(_ path: String) -> Result<[Substring], SensorFile.Fault> {
        SensorFile.read(root + path, limit: 64 * 1_024).map { $0.split(separator: "\n") }
    }
}

/// Small text files of the kernel.
enum SensorFile {
    struct Fault: Error { let reason: NullReason }

    static func read(_ path: String, limit: Int) -> Result<String, Fault> {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return .failure(fault(errno)) }
        defer { close(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while bytes.count < limit {
            let count = Glibc.read(file, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return .failure(fault(errno)) }
            if count == 0 { break }
            bytes += buffer[..<count]
        }
        return .success(String(decoding: bytes.prefix(limit), as: UTF8.self))
    }

    private static func fault(_ code: Int32) -> Fault {
        switch code {
        case ENOENT, ENOTDIR, ENODEV, ENXIO: Fault(reason: .absent)
        case EACCES, EPERM: Fault(reason: .denied)
        default: Fault(reason: .failed)
        }
    }
}
