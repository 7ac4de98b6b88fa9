import Fleet
import FleetTerminal
import Glibc
import NearbyCore
import NearbyLinux
import NodeShell
import Survey

/// `rivulet top` on a terminal: keys, its size and snapshots go in, the screen comes out.
final class TopProgram {
    private let loop: EventLoop
    private let signals: SignalSource
    private let source: FleetSource
    private var screen: TopScreen
    private var keys = TopKeyReader()
    private var keyTimer: EventLoop.TimerID?
    private var hasEnded = false

    init(_ node: NodeSocket, colours: Bool, first: FleetSource.Answer) throws {
        // Before there is another thread.
        signals = try SignalSource([SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGWINCH, SIGCONT])
        loop = try EventLoop()
        source = try FleetSource(node)
        let size = Self.size
        screen = TopScreen(
            columns: size.columns, lines: size.lines, hasColours: colours, source: "the collector")
        _ = screen.handle(.snapshot(first.snapshot))
    }

    /// Until a key or a signal ends it; the terminal is then as it was before.
    func run() throws {
        guard let terminal = RawTerminal() else {
            let cause = String(cString: strerror(errno))
            throw Failure("the terminal cannot be set up: \(cause)", .inputOutput)
        }
        defer { terminal.restore() }
        try loop.register(signals) { [unowned self] in came($0, terminal) }
        try loop.register(STDIN_FILENO) { [unowned self] _ in typed() }
        try loop.register(source.answers) { [unowned self] in answered($0) }
        keyTimer = loop.addTimer { [unowned self] _ in press(keys.flush()) }
        resize()
        source.ask()
        try loop.run()
    }

    private static var size: (columns: Int, lines: Int) {
        let size = Terminal.size
        return size.columns > 0 && size.lines > 0 ? size : (80, 24)
    }

    private func came(_ signal: Int32, _ terminal: RawTerminal) {
        switch signal {
        case SIGWINCH: resize()
        case SIGCONT:
            // Whoever stopped us may have left the terminal otherwise.
            terminal.enter()
            resize()
        default: end()
        }
    }

    private func resize() {
        let size = Self.size
        show(.resized(columns: size.columns, lines: size.lines))
    }

    private func typed() {
        var buffer = [UInt8](repeating: 0, count: 1_024)
        let count = read(STDIN_FILENO, &buffer, buffer.count)
        if count < 0, errno == EINTR || errno == EAGAIN { return }
        // The terminal is gone.
        guard count > 0 else { return end() }
        press(keys.read(Array(buffer.prefix(count))))
        // An escape may be a key, or the begin of one.
        if let keyTimer {
            loop.set(keyTimer, to: keys.isWaiting ? MonotonicClock.now() + .milliseconds(50) : nil)
        }
    }

    private func press(_ keys: [TopKey]) {
        for key in keys where !hasEnded { show(.key(key)) }
    }

    private func answered(_ answer: Result<FleetSource.Answer, Failure>) {
        switch answer {
        case .success(let answer): show(.snapshot(answer.snapshot))
        case .failure(let failure): show(.fault("\(failure)"))
        }
    }

    private func show(_ input: TopScreen.Input) {
        guard !hasEnded else { return }
        let output = screen.handle(input)
        if output.isDone { return end() }
        if !RawTerminal.write(output.text) { end() }
    }

    private func end() {
        hasEnded = true
        loop.stop()
    }
}

/// The terminal as a screen of our own, and as it was before.
final class RawTerminal {
    private var before = termios()

    /// Nil where it cannot be set up.
    init?() {
        guard tcgetattr(STDIN_FILENO, &before) == 0 else { return nil }
        enter()
    }

    /// Keys one by one, unseen; the other screen, without a cursor.
    func enter() {
        var raw = before
        cfmakeraw(&raw)
        tcsetattr(STDIN_FILENO, TCSADRAIN, &raw)
        _ = Self.write("\u{1b}[?1049h\u{1b}[?25l\u{1b}[?7l")
    }

    func restore() {
        _ = Self.write("\u{1b}[0m\u{1b}[?7h\u{1b}[?25h\u{1b}[?1049l")
        tcsetattr(STDIN_FILENO, TCSADRAIN, &before)
    }

    /// Whether all of it could be written.
    static func write(_ text: String) -> Bool {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count)
            }
            if count < 0, errno == EINTR { continue }
            if count <= 0 { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
