import Glibc

/// Reads whole files that must be small.
enum SmallFile {
    static func read(_ path: String, limit: Int) throws(Mistake) -> [UInt8] {
        let start = Mark(line: 1, column: 1)
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else {
            throw Mistake(file: path, mark: start, message: String(cString: strerror(errno)))
        }
        defer { close(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16 * 1_024)
        while true {
            let count = Glibc.read(file, &buffer, buffer.count)
            guard count >= 0 else {
                throw Mistake(file: path, mark: start, message: String(cString: strerror(errno)))
            }
            if count == 0 { return bytes }
            bytes += buffer[..<count]
            guard bytes.count <= limit else {
                throw Mistake(file: path, mark: start, message: "longer than \(limit) bytes")
            }
        }
    }

    /// The permission bits, or nil if it is not there.
    static func permissions(_ path: String) -> UInt32? {
        var status = stat()
        return stat(path, &status) == 0 ? UInt32(status.st_mode) & 0o777 : nil
    }
}
