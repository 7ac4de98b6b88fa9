import Glibc

/// What this machine says of itself. Nil where it says nothing: collectors are shown that too.
enum Machine {
    /// Processes that want to run, on average over the last minute.
    static var load: Double? {
        text("/proc/loadavg")?.split(separator: " ").first.flatMap { Double($0) }
    }

    static var freeMegabytes: Double? {
        let lines = text("/proc/meminfo")?.split(separator: "\n") ?? []
        let words = lines.first { $0.hasPrefix("MemAvailable:") }?.split(separator: " ") ?? []
        guard words.count > 1, let kibibytes = Int(words[1]) else { return nil }
        return Double(kibibytes / 1_024)
    }

    static var home: String { getenv("HOME").map { String(cString: $0) } ?? "." }

    private static func text(_ path: String) -> String? {
        guard let file = fopen(path, "r") else { return nil }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes.prefix(count), as: UTF8.self)
    }
}
