import Glibc
import NearbyCore
import NearbyLinux
import Outputs

/// Writes to a descriptor that may take nothing for a while: a pipe, a terminal.
struct LinePipe {
    let descriptor: Int32
    /// For messages.
    let target: String
    let timeLimit: Duration

    /// What a pipe takes at once when poll(2) says that it is writable, whoever else writes
    /// (PIPE_BUF).
    private static let pieceBytes = 4_096

    /// All of it, within the time limit.
    func write(_ bytes: [UInt8]) throws(OutputFault) {
        let end = MonotonicClock.now() + timeLimit
        var rest = bytes[...]
        while !rest.isEmpty {
            guard wait(for: POLLOUT, until: end.nanoseconds) else {
                throw OutputFault(
                    .unavailable, "\(target): nothing was read within \(timeLimit.seconds) s")
            }
            let piece = rest.prefix(Self.pieceBytes)
            let count = piece.withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count > 0 else {
                let reason =
                    errno == EPIPE ? "nobody reads any more" : String(cString: strerror(errno))
                throw OutputFault(.unavailable, "\(target): \(reason)")
            }
            rest = rest.dropFirst(count)
        }
    }

    /// A line without its newline, from another descriptor. Nil at the end, and for a line that
    /// is too long.
    func readLine(from answers: Int32) throws(OutputFault) -> [UInt8]? {
        let end = MonotonicClock.now() + timeLimit
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while line.count < Self.pieceBytes {
            guard Self.wait(answers, POLLIN, until: end.nanoseconds) else {
                throw OutputFault(
                    .unavailable,
                    "\(target): no line in answer to a batch within \(timeLimit.seconds) s")
            }
            let count = read(answers, &byte, 1)
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count > 0 else { return nil }
            if byte == UInt8(ascii: "\n") { return line }
            line.append(byte)
        }
        return nil
    }

    private func wait(for event: Int32, until end: Int64) -> Bool {
        Self.wait(descriptor, event, until: end)
    }

    private static func wait(_ descriptor: Int32, _ event: Int32, until end: Int64) -> Bool {
        while true {
            let left = (end - MonotonicClock.now().nanoseconds) / 1_000_000
            guard left > 0 else { return false }
            var entry = pollfd(fd: descriptor, events: Int16(event), revents: 0)
            let count = poll(&entry, 1, Int32(clamping: left))
            // Also when the other end is gone: the call then says so.
            if count > 0 { return true }
            if count < 0, errno != EINTR { return true }
        }
    }
}

extension Duration {
    fileprivate var seconds: Int64 { components.seconds }
}
