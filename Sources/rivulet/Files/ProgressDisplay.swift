import FileTransfer
import Glibc
import NearbyCore
import NearbyLinux
import Synchronization

/// How far files are, on standard error: one line that is written over on a terminal, plain lines
/// now and then elsewhere.
final class ProgressDisplay: Sendable {
    private struct State {
        var meters: [String: RateMeter] = [:]
        var isLineOpen = false
        var nextLine: Instant
    }

    private let isTerminal: Bool
    private let isQuiet: Bool
    private let state: Mutex<State>

    init(quiet: Bool) {
        isQuiet = quiet
        isTerminal =
            isatty(STDERR_FILENO) == 1
            && getenv("TERM").map({ String(cString: $0) }) ?? "dumb" != "dumb"
        state = Mutex(State(nextLine: MonotonicClock.now() + Self.plainLineEvery))
    }

    /// The first is shown; of others it is said how many there are.
    func show(_ files: [ActiveFile]) {
        let now = MonotonicClock.now()
        state.withLock { state in
            let keys = Set(files.map(\.key))
            state.meters = state.meters.filter { keys.contains($0.key) }
            for file in files {
                state.meters[file.key, default: RateMeter()].record(file.completed, at: now)
            }
            guard !isQuiet, let first = files.first else { return }
            guard isTerminal || now >= state.nextLine else { return }
            state.nextLine = now + Self.plainLineEvery
            let more = files.count > 1 ? "  +\(files.count - 1)" : ""
            let text = ProgressText(
                name: first.name, completed: first.completed, total: first.total,
                bytesPerSecond: state.meters[first.key]?.bytesPerSecond)
            let line = text.line(columns: (isTerminal ? columns : 100) - more.count - 1) + more
            Self.write(isTerminal ? "\r\(line)\u{1b}[K" : line + "\n")
            state.isLineOpen = isTerminal
        }
    }

    /// A line of its own, above what is written over.
    func say(_ line: String) {
        guard !isQuiet else { return }
        state.withLock { state in
            Self.write((state.isLineOpen ? "\r\u{1b}[K" : "") + line + "\n")
            state.isLineOpen = false
        }
    }

    /// Nothing is written over any more.
    func finish() {
        state.withLock { state in
            if state.isLineOpen { Self.write("\r\u{1b}[K") }
            state.isLineOpen = false
        }
    }

    private var columns: Int {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    private static func write(_ text: String) {
        let bytes = Array(text.utf8)
        _ = Glibc.write(STDERR_FILENO, bytes, bytes.count)
    }

    private static let plainLineEvery = Duration.seconds(10)
}

extension ActiveFile {
    fileprivate var key: String { "\(sender)/\(name)" }
}
