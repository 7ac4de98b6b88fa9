import CLinux
import FileTransfer
import Glibc
import NearbyLinux
import Synchronization

/// Runs a task for a command that waits for it, and ends it in order when a signal comes.
final class Interruptible<Value: Sendable>: Sendable {
    private let outcome = Mutex<Result<Value, TransferFault>?>(nil)
    private let bell: FileDescriptor

    private init() throws {
        bell = try FileDescriptor(taking: eventfd(0, Int32(EFD_CLOEXEC)), from: "eventfd")
    }

    /// - Parameters:
    ///   - body: what is to be done.
    ///   - farewell: what is said when a signal has ended it.
    /// - Returns: what the task returned; after a signal the process ends with 128 and its number.
    static func run(
        farewell: () -> Void, _ body: @escaping @Sendable () async throws(TransferFault) -> Value
    ) throws -> Value {
        // Before the task's threads start, so that none of them takes a signal.
        let signals = try SignalSource()
        let this = try Interruptible()
        let task = Task { await this.perform(body) }
        if let signal = this.wait(signals, milliseconds: -1) {
            task.cancel()
            // A second signal does not wait for others.
            _ = this.wait(signals, milliseconds: 3_000)
            farewell()
            exit(128 + signal)
        }
        guard let outcome = this.outcome.withLock({ $0 }) else {
            throw Failure("the task has vanished", .inputOutput)
        }
        do throws(TransferFault) {
            return try outcome.get()
        } catch {
            throw Failure(error)
        }
    }

    private func perform(
        _ body: @Sendable () async throws(TransferFault) -> Value
    ) async {
        let result: Result<Value, TransferFault>
        do throws(TransferFault) {
            result = .success(try await body())
        } catch {
            result = .failure(error)
        }
        outcome.withLock { $0 = result }
        var one: UInt64 = 1
        write(bell.raw, &one, 8)
    }

    /// - Returns: the signal that came; nil if the task has ended, or after this time.
    private func wait(_ signals: SignalSource, milliseconds: Int32) -> Int32? {
        var files = [
            pollfd(fd: bell.raw, events: Int16(POLLIN), revents: 0),
            pollfd(fd: signals.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        while true {
            let count = poll(&files, nfds_t(files.count), milliseconds)
            if count < 0, errno == EINTR { continue }
            if files[0].revents != 0 || count <= 0 { return nil }
            if let signal = signals.next() { return signal }
        }
    }
}
