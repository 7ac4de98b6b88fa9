import Glibc
import NodeShell

/// Standard output in large pieces. A reader that went away is no fault: nothing more is written.
final class StandardOutput {
    private var buffer: [UInt8] = []
    private var fault: Int32?

    /// Returns whether more can be written.
    func write(_ text: String) -> Bool {
        buffer.append(contentsOf: text.utf8)
        if buffer.count >= 1 << 16 { flush() }
        return fault == nil
    }

    /// Writes the rest; throws if something could not be written, unless nobody reads any more.
    func finish() throws {
        flush()
        if let fault { try Self.check(fault) }
    }

    /// Writes what `print` still holds; throws as `finish`.
    static func flushPrinted() throws {
        if fflush(nil) != 0 { try check(errno) }
    }

    /// A line that is seen at once, also in a pipe. Throws as `finish`, and a failure that says
    /// nothing where nobody reads any more.
    static func show(_ line: String, terminator: String = "\n") throws {
        print(line, terminator: terminator)
        guard fflush(nil) != 0 else { return }
        try check(errno)
        throw Failure("", .good)
    }

    /// Whether it leads into systemd's journal, which keeps what it gets (systemd.exec(5),
    /// `JOURNAL_STREAM`).
    static var isJournal: Bool {
        guard let text = getenv("JOURNAL_STREAM").map({ String(cString: $0) }) else { return false }
        var status = stat()
        return fstat(STDOUT_FILENO, &status) == 0 && text == "\(status.st_dev):\(status.st_ino)"
    }

    private static func check(_ fault: Int32) throws {
        guard fault != EPIPE else { return }
        throw Failure("standard output: \(String(cString: strerror(fault)))", .inputOutput)
    }

    private func flush() {
        var rest = buffer[...]
        while fault == nil, !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count)
            }
            if count < 0 {
                if errno != EINTR { fault = errno }
                continue
            }
            rest = rest.dropFirst(count)
        }
        buffer.removeAll(keepingCapacity: true)
    }
}
