import Configuration
import Glibc

/// What a machine tells of itself in /proc, /sys and /dev, below a root that tests point elsewhere.
struct SystemTree: Sendable {
    let root: String

    /// Entries of one folder that are looked at.
    private static let entriesMax = 4_096

    init(root: String = "") { self.root = root }

    /// The first 64 KiB of a small file; nil if it cannot be read.
    func bytes(_ path: String) -> [UInt8]? {
        try? SmallFile.read(root + path, limit: 64 * 1_024)
    }

    /// The first line of a file without control characters and white space around it; nil if it
    /// cannot be read or there is nothing in it.
    func line(_ path: String) -> String? {
        guard let bytes = bytes(path) else { return nil }
        let first = bytes.prefix { $0 != 0x0a && $0 != 0 }.filter { $0 >= 0x20 && $0 != 0x7f }
        let text = first.drop { $0 == 0x20 }
        guard let last = text.lastIndex(where: { $0 != 0x20 }) else { return nil }
        return String(decoding: text[...last], as: UTF8.self)
    }

    func lines(_ path: String) -> [String] {
        (bytes(path) ?? []).split(separator: 0x0a).map { String(decoding: $0, as: UTF8.self) }
    }

    func exists(_ path: String) -> Bool { access(root + path, F_OK) == 0 }

    /// Where a symbolic link leads, as it is written; nil if it is none.
    func target(_ path: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = buffer.withUnsafeMutableBytes { bytes in
            bytes.baseAddress.map { readlink(root + path, $0, bytes.count) } ?? -1
        }
        return count > 0 ? String(decoding: buffer[..<count], as: UTF8.self) : nil
    }

    /// Names in a folder, hidden ones left out, numbers in names in their order (hwmon2 before
    /// hwmon10); empty if it cannot be read.
    func names(in path: String) -> [String] {
        guard let folder = opendir(root + path) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while names.count < Self.entriesMax, let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names.sorted(by: Self.comesBefore)
    }

    /// By text, but digits at the end by their value.
    static func comesBefore(_ left: String, _ right: String) -> Bool {
        let (a, b) = (split(left), split(right))
        if a.text != b.text { return a.text < b.text }
        if a.number != b.number { return a.number < b.number }
        return left < right
    }

    private static func split(_ name: String) -> (text: Substring, number: Int) {
        let digits = name.reversed().prefix { $0.isASCII && $0.isNumber }.prefix(9)
        return (name.dropLast(digits.count), Int(String(digits.reversed())) ?? -1)
    }
}
