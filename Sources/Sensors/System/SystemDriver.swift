import Glibc
import NearbyCore
import Sampling
import Synchronization
import Telemetry

/// This machine itself: load, memory, disks, uptime, network counters, Wi-Fi signal, and what its
/// processor does. What a machine does not have is no channel.
public final class SystemDriver: SensorDriver {
    public let name = "system"
    let root: String
    private let disks: [String]
    /// Busy and all jiffies at the last sample.
    let lastCPU = Mutex<(busy: Int64, all: Int64)?>(nil)
    /// Channels of what may be unplugged.
    private let seen = Mutex(SeenChannels())

    /// `root` is where /proc and /sys are looked up; tests give another.
    public init(disks: [String], root: String = "") {
        self.disks = disks
        self.root = root
    }

    public func sample() -> [Measurement] {
        let all =
            load() + memory() + processor() + temperature() + frequencies() + uptime()
            + disks.flatMap(disk) + seen.withLock { $0.completing(undervoltage() + wireless()) }
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
                guard words.count >= 2, let kibibytes = Int(words[1]),
                    (0..<1 << 52).contains(kibibytes)
                else { return Measurement(channel, "B", .null(.malformed)) }
                return Measurement(channel, "B", Int64(kibibytes) * 1_024)
            }
        }
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

    // MARK: Files

    func measurement(
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
    func words(
        _ path: String, at line: Int
    ) -> Result<[Substring], SensorFile.Fault> {
        lines(path).map { lines in
            lines.indices.contains(line) ? lines[line].split(separator: " ") : []
        }
    }

    func lines(_ path: String) -> Result<[Substring], SensorFile.Fault> {
        SensorFile.read(root + path, limit: 64 * 1_024).map { $0.split(separator: "\n") }
    }
}
