import Glibc

/// A file, line by line, with at most two lines' worth of it in memory.
final class LineReader {
    enum Line: Equatable {
        /// Without its end, `\n` or `\r\n`.
        case text(String)
        /// Longer than `lineBytesMax`; passed over.
        case tooLong
    }

    /// The number of the line that `next` gave last, from 1.
    private(set) var lineNumber = 0
    private let file: Int32
    private var buffer: [UInt8] = []
    private var start = 0
    private var isAtEnd = false
    /// What the buffer holds is the rest of a line that was too long.
    private var isInsideLongLine = false

    static let lineBytesMax = 4_096

    /// Nil, with `errno` set, if the file cannot be opened; EISDIR for all that is no plain file: a
    /// pipe would be waited for, a device may never end.
    init?(_ path: String) {
        file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard file >= 0 else { return nil }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            errno = EISDIR
            return nil
        }
    }

    // A failed close would hide why the file could not be opened.
    deinit { if file >= 0 { close(file) } }

    /// Nil at the end.
    func next() -> Line? {
        while true {
            if let end = buffer[start...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { start = end + 1 }
                return line(buffer[start..<end])
            }
            if isAtEnd {
                guard start < buffer.count || isInsideLongLine else { return nil }
                defer { start = buffer.count }
                return line(buffer[start...])
            }
            if buffer.count - start > Self.lineBytesMax {
                isInsideLongLine = true
                start = buffer.count
            }
            fill()
        }
    }

    private func line(_ bytes: ArraySlice<UInt8>) -> Line {
        lineNumber += 1
        defer { isInsideLongLine = false }
        guard !isInsideLongLine, bytes.count <= Self.lineBytesMax else { return .tooLong }
        let text = bytes.last == UInt8(ascii: "\r") ? bytes.dropLast() : bytes
        return .text(String(decoding: text, as: UTF8.self))
    }

    private func fill() {
        buffer.removeFirst(start)
        start = 0
        var chunk = [UInt8](repeating: 0, count: 4_096)
        let count = read(file, &chunk, chunk.count)
        if count < 0, errno == EINTR { return }
        if count <= 0 { isAtEnd = true } else { buffer += chunk[..<count] }
    }
}
