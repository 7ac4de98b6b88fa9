import Glibc

/// Plain lines on standard error: for people on a terminal, for journald otherwise.
///
/// Where standard error goes to journald, each line begins with the kernel's level prefix (`<6>`)
/// that journald understands (sd-daemon(3)). Never give it keys or contents of messages.
public struct StandardErrorLog: Sendable {
    /// syslog's levels, RFC 5424 §6.2.1. The lower, the graver.
    public enum Level: UInt8, Comparable, Sendable {
        case error = 3
        case warning = 4
        case notice = 5
        case information = 6
        case debug = 7

        public static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
    }

    /// Lines less grave than this are not written.
    public var threshold: Level
    private let hasPrefix: Bool

    public init(threshold: Level = .information) {
        self.init(
            threshold: threshold,
            hasPrefix: Self.isJournal(
                STDERR_FILENO, named: getenv("JOURNAL_STREAM").map { String(cString: $0) }))
    }

    init(threshold: Level, hasPrefix: Bool) {
        self.threshold = threshold
        self.hasPrefix = hasPrefix
    }

    /// Whether the descriptor is the stream that journald gave us. `JOURNAL_STREAM` has its device
    /// and inode (systemd.exec(5)); it is inherited, so the name alone proves nothing.
    static func isJournal(_ descriptor: Int32, named: String?) -> Bool {
        var status = stat()
        guard let named, fstat(descriptor, &status) == 0 else { return false }
        return named == "\(status.st_dev):\(status.st_ino)"
    }

    /// Writes one line with one call, so that lines of several threads do not mix.
    public func write(_ level: Level, _ text: @autoclosure () -> String) {
        guard level <= threshold else { return }
        var bytes = Array(line(level, text()).utf8)
        _ = Glibc.write(STDERR_FILENO, &bytes, bytes.count)
    }

    /// The line as written. Control characters become `?`: a name from outside cannot forge a line.
    func line(_ level: Level, _ text: String) -> String {
        var line = hasPrefix ? "<\(level.rawValue)>" : ""
        for scalar in text.unicodeScalars {
            let isControl = scalar.value < 0x20 || (0x7f...0x9f).contains(scalar.value)
            line.unicodeScalars.append(isControl ? "?" : scalar)
        }
        return line + "\n"
    }
}
