import Foundation

/// The terminal that the program was started in: standard input and output where they are one, else
/// the controlling terminal.
final class TerminalDevice: Sendable {
    private let input: Int32
    private let output: Int32
    private let isOurs: Bool

    /// Nil where there is none, as for a service.
    init?() {
        if isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1 {
            (input, output, isOurs) = (STDIN_FILENO, STDOUT_FILENO, false)
            return
        }
        let file = open("/dev/tty", O_RDWR | O_CLOEXEC)
        guard file >= 0 else { return nil }
        (input, output, isOurs) = (file, file, true)
    }

    deinit {
        if isOurs { close(input) }
    }

    /// Columns and lines; 80 and 24 where they are not known.
    var size: (columns: Int, lines: Int) {
        var size = winsize()
        guard ioctl(output, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0
        else { return (80, 24) }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    func write(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(output, $0.baseAddress, $0.count) }
            if count < 0 && errno != EINTR { return }
            rest = rest.dropFirst(max(count, 0))
        }
    }

    /// What was typed, empty if nothing was within the time; nil at the end of input.
    func read(within milliseconds: Int32) -> [UInt8]? {
        var descriptor = pollfd(fd: input, events: Int16(POLLIN), revents: 0)
        guard poll(&descriptor, 1, milliseconds) > 0 else { return [] }
        var buffer = [UInt8](repeating: 0, count: 256)
        let count = Glibc.read(input, &buffer, buffer.count)
        guard count != 0 else { return nil }
        guard count > 0 else { return errno == EINTR ? [] : nil }
        return Array(buffer.prefix(count))
    }

    /// Gives keys one by one, without showing them, until the body is done.
    func inRawMode<Result>(_ body: () -> Result) -> Result {
        var before = termios()
        guard tcgetattr(input, &before) == 0 else { return body() }
        var raw = before
        cfmakeraw(&raw)
        tcsetattr(input, TCSADRAIN, &raw)
        defer { tcsetattr(input, TCSADRAIN, &before) }
        return body()
    }

    /// The whole screen, which is as it was before when the body is done.
    func onWholeScreen<Result>(_ body: () -> Result) -> Result {
        write("\u{1b}[?1049h\u{1b}[?25l")
        defer { write("\u{1b}[?25h\u{1b}[?1049l") }
        return inRawMode(body)
    }

    func draw(_ lines: [String]) {
        write("\u{1b}[H" + lines.map { $0 + "\u{1b}[K" }.joined(separator: "\r\n") + "\u{1b}[J")
    }
}
