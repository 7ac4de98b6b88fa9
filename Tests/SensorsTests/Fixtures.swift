import Glibc
import NearbyCore
import Telemetry

@testable import Sampling
@testable import Sensors

/// A folder of its own for one test, removed with it.
final class TemporaryFolder {
    let path: String
    private var files: [String] = []
    private var folders: [String] = []

    init() {
        var template = Array("/tmp/rivulet-sensors-XXXXXX".utf8CString)
        path = mkdtemp(&template).map { String(cString: $0) } ?? "/tmp"
    }

    deinit {
        for file in files { unlink(file) }
        for folder in folders.reversed() { rmdir(folder) }
        rmdir(path)
    }

    /// Writes a file below the folder, with the folders on its way, and gives its path.
    @discardableResult
    func write(_ name: String, _ text: String, mode: mode_t = 0o644) -> String {
        var folder = path
        for part in name.split(separator: "/").dropLast() {
            folder += "/" + part
            if mkdir(folder, 0o755) == 0 { folders.append(folder) }
        }
        let file = path + "/" + name
        files.append(file)
        let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC, mode)
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { break }
            rest = rest.dropFirst(count)
        }
        close(descriptor)
        return file
    }

    func fifo(_ name: String) -> String {
        let file = path + "/" + name
        files.append(file)
        mkfifo(file, 0o600)
        return file
    }
}

extension Measurement {
    /// `channel unit value`, or the null's reason in place of the value.
    var text: String {
        switch outcome {
        case .value(let value): "\(channel) \(unit) \(value)"
        case .null(let reason): "\(channel) \(unit) null:\(reason)"
        }
    }
}

func milliseconds() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
}

/// Waits until the condition holds, at most so long; whether it came to hold.
func wait(upTo limit: Int64, until condition: () -> Bool) -> Bool {
    let deadline = milliseconds() + limit
    while !condition() {
        if milliseconds() > deadline { return false }
        usleep(2_000)
    }
    return true
}
