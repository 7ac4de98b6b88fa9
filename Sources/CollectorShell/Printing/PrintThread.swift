import Glibc
import NearbyCore
import NearbyLinux
import Synchronization

extension Limits {
    /// Bytes that wait for the reader of standard output; a text that finds nothing waiting is
    /// taken whatever its size.
    static let printedBytesMax = 4 << 20
}

/// Writes texts to a descriptor whose reader may stand still (Ctrl-S, `less`): the logic thread
/// never waits for it.
///
/// One thread, which starts with the first text, writes what `PrintQueue` holds, in order.
final class PrintThread: Sendable {
    enum News: Equatable, Sendable {
        /// Texts were dropped; what waited is written now, and there is room again.
        case resumed
        /// Nothing can be written any more; `fault` says why.
        case failed
    }

    let news: Mailbox<News>
    /// Whether standard error goes there too: nothing can be said there while the reader stands
    /// still.
    let isStandardError: Bool
    private let descriptor: Int32
    private let bytesMax: Int
    private let queue = Mutex(PrintQueue())
    private let worker = WorkerPool(threads: 1, most: 1)

    /// - Parameter descriptor: stays the caller's.
    init(
        _ descriptor: Int32 = STDOUT_FILENO, bytesMax: Int = Limits.printedBytesMax
    ) throws(SystemError) {
        self.descriptor = descriptor
        self.bytesMax = bytesMax
        isStandardError = Self.areOneFile(descriptor, STDERR_FILENO)
        news = try Mailbox()
    }

    /// Queues a text. False if there is no room: it was dropped.
    func post(_ text: String) -> Bool {
        let text = Array(text.utf8)
        guard queue.withLock({ $0.add(text, bytesMax: bytesMax) }) else { return false }
        startWriting()
        return true
    }

    /// Queues a text that says all, such as a picture of a screen, in place of those that wait.
    func postNewest(_ text: String) {
        let text = Array(text.utf8)
        queue.withLock { $0.replaceWaiting(with: text) }
        startWriting()
    }

    /// Waits until all is written, or nothing can be any more; from when `isUrgent` on for so long
    /// at most. Returns whether nothing waits any more.
    func finish(patience: Duration, isUrgent: () -> Bool) -> Bool {
        var end: Instant?
        while !queue.withLock({ $0.isEmpty }) {
            if end == nil, isUrgent() { end = MonotonicClock.now() + patience }
            if let end, MonotonicClock.now() >= end { return false }
            // A thread that could not be started is tried again.
            startWriting()
            usleep(5_000)
        }
        return true
    }

    /// errno's code of the write that failed.
    var fault: Int32? { queue.withLock { $0.fault } }

    static func areOneFile(_ left: Int32, _ right: Int32) -> Bool {
        var (a, b) = (stat(), stat())
        guard fstat(left, &a) == 0, fstat(right, &b) == 0 else { return false }
        return a.st_dev == b.st_dev && a.st_ino == b.st_ino
    }

    // MARK: On the thread

    private func startWriting() {
        // Where too many jobs wait already, one of them writes this text too.
        _ = worker.run { self.writeAll() }
    }

    private func writeAll() {
        while let text = queue.withLock({ $0.next() }) {
            if let code = write(text) {
                queue.withLock { $0.fail(code) }
                _ = news.post(.failed)
                return
            }
            if queue.withLock({ $0.wrote(text) }) { _ = news.post(.resumed) }
        }
    }

    /// Returns errno's code where it fails.
    private func write(_ text: [UInt8]) -> Int32? {
        var rest = text[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.write(descriptor, $0.baseAddress, $0.count)
            }
            if count > 0 {
                rest = rest.dropFirst(count)
                continue
            }
            let code = errno
            switch code {
            case EINTR: break
            // Whoever has it too may have set it to O_NONBLOCK.
            case EAGAIN: waitUntilWritable()
            default: return code
            }
        }
        return nil
    }

    private func waitUntilWritable() {
        var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = poll(&entry, 1, -1)
    }
}
