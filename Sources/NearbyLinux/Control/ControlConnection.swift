import CLinux
import Glibc
import NearbyCore

/// One client of the control socket: its unread input and its unsent output.
final class ControlConnection {
    enum Input { case request(String), tooLong, incomplete }

    let file: FileDescriptor
    var registeredInterest: EventLoop.Readiness = .readable
    /// A request was taken whose reply has not ended.
    private(set) var isReplyOpen = false
    private var input: [UInt8] = []
    private var output: [UInt8] = []
    private var sentCount = 0
    private var hasInputEnded = false

    init(_ file: FileDescriptor) { self.file = file }

    /// What to wait for: input stays in the kernel while a reply is on its way.
    var interest: EventLoop.Readiness {
        var result: EventLoop.Readiness = []
        if !hasInputEnded, !isReplyOpen, output.isEmpty { result.insert(.readable) }
        if !output.isEmpty { result.insert(.writable) }
        return result
    }

    /// The client asks no more and has everything.
    var isDone: Bool { hasInputEnded && !isReplyOpen && output.isEmpty }

    var isTooSlow: Bool { output.count - sentCount > Limits.controlOutputBytesMax }

    /// Takes what has arrived, at most 4 KiB. False if the connection is broken.
    func read() -> Bool {
        var piece = [UInt8](repeating: 0, count: 4_096)
        let count = Glibc.read(file.raw, &piece, piece.count)
        if count > 0 {
            input.append(contentsOf: piece.prefix(count))
        } else if count == 0 {
            hasInputEnded = true
        } else {
            return errno == EAGAIN || errno == EINTR
        }
        return true
    }

    /// The next complete line without its end; CR before LF is dropped.
    func nextRequest() -> Input {
        guard let end = input.firstIndex(of: UInt8(ascii: "\n")) else {
            return input.count > Limits.controlRequestBytesMax ? .tooLong : .incomplete
        }
        var line = input[..<end]
        input.removeFirst(end + 1)
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        guard line.count <= Limits.controlRequestBytesMax else { return .tooLong }
        return .request(String(decoding: line, as: UTF8.self))
    }

    func open() { isReplyOpen = true }

    /// Takes no more requests.
    func endInput() {
        input = []
        hasInputEnded = true
    }

    /// Queues lines of the reply, a text of several lines as several; ignored if no reply is open.
    func append(_ lines: [String], isEnd: Bool) {
        guard isReplyOpen else { return }
        for line in lines {
            for part in line.utf8.split(
                separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            {
                if part.first == UInt8(ascii: ".") { output.append(UInt8(ascii: ".")) }
                output.append(contentsOf: part)
                output.append(UInt8(ascii: "\n"))
            }
        }
        if isEnd {
            output.append(contentsOf: ".\n".utf8)
            isReplyOpen = false
        }
    }

    /// Sends what the kernel takes. False if the connection is broken.
    func write() -> Bool {
        while sentCount < output.count {
            let count = output.withUnsafeBytes {
                send(
                    file.raw, $0.baseAddress! + sentCount, $0.count - sentCount,
                    clinux_msg_nosignal())
            }
            if count < 0 { return errno == EAGAIN || errno == EINTR }
            sentCount += count
        }
        output = []
        sentCount = 0
        return true
    }

    /// Tells a client that there is no room for it.
    static func refuse(_ file: FileDescriptor) {
        let bytes = Array("error: the agent has too many clients\n.\n".utf8)
        _ = send(file.raw, bytes, bytes.count, clinux_msg_nosignal())
    }
}
