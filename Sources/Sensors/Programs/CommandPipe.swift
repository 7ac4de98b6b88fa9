import Glibc
import NearbyCore

/// A pipe from a program that we run, read without waiting.
final class CommandPipe {
    let reading: Int32
    private(set) var writing: Int32
    private(set) var bytes: [UInt8] = []
    private(set) var isAtEnd = false

    /// Nil, with `errno` set, if there is none to be had.
    init?() {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        // Only our end: the program's must wait while the pipe is full.
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        (reading, writing) = (ends[0], ends[1])
    }

    deinit {
        closeWriting()
        close(reading)
    }

    /// The program has its own copy.
    func closeWriting() {
        if writing >= 0 { close(writing) }
        writing = -1
    }

    /// What is there, at most 64 KiB.
    func read() {
        var buffer = [UInt8](repeating: 0, count: 16 * 1_024)
        for _ in 0..<4 where !isAtEnd {
            let count = Glibc.read(reading, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN { return }
            if count <= 0 { isAtEnd = true } else { bytes += buffer[..<count] }
        }
    }

    /// Hands over what was read.
    func takeBytes() -> [UInt8] {
        defer { bytes.removeAll(keepingCapacity: true) }
        return bytes
    }
}

/// The end of what a program wrote to standard error.
struct StandardErrorTail {
    private var end: [UInt8] = []

    mutating func append(_ pipe: CommandPipe) {
        pipe.read()
        end += pipe.takeBytes()
        end.removeFirst(max(0, end.count - CommandDriver.standardErrorBytesMax))
    }

    /// The last line that is not empty; nil if there is none.
    var lastLine: String? { Self.line(end[...]) }

    /// As much of the last line of a text as fits a message, without control characters.
    static func line(_ text: ArraySlice<UInt8>) -> String? {
        let isSpace = { (byte: UInt8) in byte <= 0x20 || byte == 0x7f }
        let line = text.split(whereSeparator: { $0 == 0x0a || $0 == 0x0d })
            .last { !$0.allSatisfy(isSpace) }
        guard let line else { return nil }
        let shown = String(decoding: line, as: UTF8.self).unicodeScalars.map {
            $0.isPlain ? String($0) : " "
        }
        let start = shown.prefix(120).joined()
        return shown.count > 120 ? start + "…" : start
    }
}
