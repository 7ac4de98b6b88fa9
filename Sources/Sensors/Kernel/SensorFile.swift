import Glibc
import NearbyCore
import Telemetry

/// Small text files of the kernel: sysfs and procfs.
enum SensorFile {
    struct Fault: Error {
        let reason: NullReason
        /// The error's number; 0 where the kernel gave none.
        var code: Int32 = 0
    }

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

    /// An attribute's text without the space around it; a file without any is a failed reading,
    /// because that is how some drivers report an error.
    static func attribute(_ path: String) -> Result<String, Fault> {
        read(path, limit: 4_096).flatMap { text in
            let trimmed = trimmed(text)
            return trimmed.isEmpty ? .failure(Fault(reason: .failed)) : .success(trimmed)
        }
    }

    /// An attribute that is a whole number.
    static func integer(_ path: String) -> Result<Int64, Fault> {
        attribute(path).flatMap { text in
            Int64(text).map { .success($0) } ?? .failure(Fault(reason: .malformed))
        }
    }

    /// Writes an attribute: one write of the whole text, as sysfs wants it.
    static func write(_ path: String, _ text: String) -> Result<Void, Fault> {
        let file = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC)
        guard file >= 0 else { return .failure(fault(errno)) }
        defer { close(file) }
        let bytes = Array(text.utf8)
        guard Glibc.write(file, bytes, bytes.count) == bytes.count else {
            return .failure(fault(errno))
        }
        return .success(())
    }

    /// The names in a folder, sorted; none if it is not there. At most `limit` are looked at.
    static func names(in folder: String, limit: Int = 4_096) -> [String] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while names.count < limit, let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(
                    to: CChar.self, capacity: MemoryLayout.size(ofValue: pointer.pointee)
                ) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    /// Where a path leads once all symbolic links are followed.
    static func resolved(_ path: String) -> String? {
        guard let text = realpath(path, nil) else { return nil }
        defer { free(text) }
        return String(cString: text)
    }

    static func trimmed(_ text: String) -> String {
        let isSpace = { (byte: UInt8) in byte <= 0x20 }
        var rest = Array(text.utf8)[...].drop(while: isSpace)
        while let last = rest.last, isSpace(last) { rest.removeLast() }
        return String(decoding: rest, as: UTF8.self)
    }

    static func fault(_ code: Int32) -> Fault {
        let reason: NullReason =
            switch code {
            case ENOENT, ENOTDIR, ENODEV, ENXIO: .absent
            case EACCES, EPERM: .denied
            case ETIMEDOUT: .timeout
            case EBADMSG: .checksum
            default: .failed
            }
        return Fault(reason: reason, code: code)
    }
}

extension SensorFile {
    /// What to do about a device that may not be opened. The permissions of the file give EACCES; a
    /// service whose unit does not allow the device is given EPERM (systemd.resource-control(5)).
    static func denial(_ path: String, _ code: Int32, group: String) -> String {
        code == EPERM
            ? "\(path) is not allowed to this service: its unit lacks a DeviceAllow= for it; "
                + "`rivulet init --devices` writes what the configuration needs"
            : "\(path) may not be opened; put the agent's user into its group: "
                + "usermod -aG \(group) USER"
    }
}

/// CLOCK_BOOTTIME, in which readings are dated.
public enum SensorClock {
    public static func now() -> Instant {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}
