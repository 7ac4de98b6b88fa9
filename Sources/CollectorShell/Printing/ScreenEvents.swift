import Glibc
import NearbyCore
import NearbyLinux
import NodeShell

/// What a screen is told beside what the collector says: lines of the log, the terminal's size, and
/// the seconds that pass. Where the log goes where the windows go, its lines are queued among them:
/// a reader that stands still would otherwise hold up the node.
final class ScreenEvents {
    let log: StandardErrorLog
    private let hasScreen: Bool
    /// Lines of the log for the screen, or for standard output's queue.
    private let lines: Mailbox<String>
    private let takesLines: Bool
    private let resizes: SignalSource
    private var timer: EventLoop.TimerID?

    init(_ options: CollectOptions) throws(StartError) {
        hasScreen = options.hasScreen
        do throws(SystemError) {
            lines = try Mailbox()
            resizes = try SignalSource(options.hasScreen ? [SIGWINCH] : [])
        } catch {
            throw StartError(error)
        }
        // On a terminal the table has the screen; the log keeps to what matters.
        takesLines =
            hasScreen
            ? isatty(STDERR_FILENO) == 1 : PrintThread.areOneFile(STDOUT_FILENO, STDERR_FILENO)
        log = StandardErrorLog(
            threshold: options.logLevel ?? (options.hasScreen ? .warning : .information),
            showsTimes: true, screen: takesLines ? lines : nil)
    }

    /// Also where the program could not begin.
    deinit { tellLast() }

    /// Tells the output from now on; the loop stops when nobody reads any more.
    func open(_ output: WindowOutput, _ loop: EventLoop) throws(SystemError) {
        try output.open(loop)
        guard hasScreen else {
            return try loop.register(lines) { [unowned output] in output.add(line: $0) }
        }
        try loop.register(resizes) { [unowned output] _ in output.resize(MonotonicClock.now()) }
        try loop.register(lines) { [unowned output] in
            output.tell(.message($0), MonotonicClock.now())
        }
        timer = loop.addTimer { [unowned self, unowned output, unowned loop] in
            tick($0, output, loop)
        }
        tick(MonotonicClock.now(), output, loop)
    }

    /// Waits until what was printed is seen, and tells what the log said since the loop ended. A
    /// terminal that stands still would hold up these lines too.
    func close(_ output: WindowOutput, isInterrupted: () -> Bool) {
        if output.finish(isInterrupted: isInterrupted) { tellLast() } else { _ = lines.take() }
    }

    /// Below the screen.
    private func tellLast() { for line in lines.take() { Self.write(line) } }

    /// A line that the log has no part in.
    func trace(_ line: String) {
        if takesLines, lines.post(line) { return }
        Self.write(line)
    }

    private static func write(_ line: String) {
        var bytes = Array((line + "\n").utf8)
        _ = Glibc.write(STDERR_FILENO, &bytes, bytes.count)
    }

    private func tick(_ now: Instant, _ output: WindowOutput, _ loop: EventLoop) {
        output.tell(.tick, now)
        guard let timer, output.needsTicks else { return }
        loop.set(timer, to: now + .seconds(1))
    }
}
