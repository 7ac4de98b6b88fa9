import Glibc

/// Reads whole files that must be small.
package enum SmallFile {
    package enum Fault: Error, Equatable, CustomStringConvertible {
        case system(Int32)
        case tooLong(limit: Int)
        case notAFile
        /// Others than the owner may read or write it.
        case open(permissions: UInt32)

        package var description: String {
            switch self {
            case .system(let code):
                String(cString: strerror(code))
                    + ([EACCES, EPERM].contains(code)
                        ? "; run this as its owner, or with sudo" : "; check the path")
            case .tooLong(let limit): "longer than \(limit) bytes; is it the right file?"
            case .notAFile:
                "not a file; check the path"
            case .open(let permissions):
                "others can read it (0\(String(permissions, radix: 8))); run `chmod 600` on it"
            }
        }

        /// What it would be as a failed call.
        package var systemCode: Int32 {
            switch self {
            case .system(let code): code
            case .tooLong: EFBIG
            case .notAFile: EISDIR
            case .open: EACCES
            }
        }
    }

    /// At most `limit` bytes of a plain file: a pipe would be waited for, a device may never end. A
    /// private one only its owner must be able to read. Both is asked of the opened file, so that
    /// nobody can exchange it in between.
    package static func read(
        _ path: String, limit: Int, isPrivate: Bool = false
    ) throws(Fault) -> [UInt8] {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard file >= 0 else { throw .system(errno) }
        defer { close(file) }
        try check(file, isPrivate: isPrivate)
        return try read(file, limit: limit)
    }

    /// What comes until the end, from whatever this is; waits for it.
    package static func readStandardInput(limit: Int) throws(Fault) -> [UInt8] {
        try read(STDIN_FILENO, limit: limit)
    }

    private static func read(_ file: Int32, limit: Int) throws(Fault) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16 * 1_024)
        while true {
            let count = Glibc.read(file, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw .system(errno) }
            if count == 0 { return bytes }
            bytes += buffer[..<count]
            guard bytes.count <= limit else { throw .tooLong(limit: limit) }
        }
    }

    private static func check(_ file: Int32, isPrivate: Bool) throws(Fault) {
        var status = stat()
        guard fstat(file, &status) == 0 else { throw .system(errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw .notAFile }
        guard isPrivate else { return }
        let permissions = UInt32(status.st_mode) & 0o777
        guard permissions & 0o077 == 0 else { throw .open(permissions: permissions) }
    }
}
