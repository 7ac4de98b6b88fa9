import CLinux
import Glibc

/// Signals as events of the loop (signalfd) instead of interruptions.
///
/// Blocks them in the calling thread; threads started afterwards inherit that, so make it first.
public final class SignalSource {
    private let file: FileDescriptor
    /// Whether SIGTERM or SIGINT was among those that have come.
    public private(set) var isInterrupted = false

    public init(_ signals: [Int32] = [SIGTERM, SIGINT, SIGHUP]) throws(SystemError) {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in signals { sigaddset(&set, signal) }
        pthread_sigmask(SIG_BLOCK, &set, nil)
        let flags = Int32(SFD_CLOEXEC | SFD_NONBLOCK)
        file = try FileDescriptor(taking: signalfd(-1, &set, flags), from: "signalfd")
    }

    /// Becomes readable when a signal has come.
    public var descriptor: Int32 { file.raw }

    /// The next signal that has come, or nil.
    public func next() -> Int32? {
        var info = signalfd_siginfo()
        let size = MemoryLayout<signalfd_siginfo>.size
        guard read(file.raw, &info, size) == size else { return nil }
        let signal = Int32(info.ssi_signo)
        if signal == SIGTERM || signal == SIGINT { isInterrupted = true }
        return signal
    }
}

extension EventLoop {
    /// Calls `handler` with the number of every signal of the source.
    public func register(
        _ source: SignalSource, handler: @escaping (Int32) -> Void
    ) throws(SystemError) {
        try register(source.descriptor) { _ in
            while let signal = source.next() { handler(signal) }
        }
    }
}
