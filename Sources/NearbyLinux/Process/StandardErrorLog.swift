import Glibc
import NearbyCore

/// Plain lines on standard error: for people on a terminal, for journald otherwise.
///
/// Where standard error goes to journald, each line begins with the kernel's level prefix (`<6>`)
/// that journald understands (sd-daemon(3)), which also notes the time; elsewhere a program that
/// goes on for long begins its lines with the time. Never give it keys or contents of messages.
public struct StandardErrorLog: Sendable {
    /// syslog's levels, RFC 5424 §6.2.1. The lower, the graver.
    public enum Level: UInt8, Comparable, Sendable, CaseIterable {
        case error = 3
        case warning = 4
        case diagnostic = 5
        case information = 6
        case debug = 7

        public static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }

        /// As people name it on the command line.
        public var name: String {
            switch self {
            case .error: "error"
            case .warning: "warning"
            case .diagnostic: "notice"
            case .information: "info"
            case .debug: "debug"
            }
        }

        public init?(name: String) {
            guard let level = Self.allCases.first(where: { $0.name == name }) else { return nil }
            self = level
        }
    }

    /// What a line begins with.
    enum Prefix: Sendable { case none, level, time }

    /// Lines less grave than this are not written.
    public var threshold: Level
    private let prefix: Prefix
    private let screen: Mailbox<String>?

    /// - Parameters:
    ///   - showsTimes: for programs that go on for long.
    ///   - screen: takes the lines in place of standard error, unless that is the journal's: where
    ///     a screen is drawn, or nobody may wait for the reader.
    public init(
        threshold: Level = .information, showsTimes: Bool = false, screen: Mailbox<String>? = nil
    ) {
        let isJournal = Self.isJournal(
            STDERR_FILENO, named: getenv("JOURNAL_STREAM").map { String(cString: $0) })
        self.init(
            threshold: threshold, prefix: isJournal ? .level : showsTimes ? .time : .none,
            screen: isJournal ? nil : screen)
    }

    init(threshold: Level, prefix: Prefix, screen: Mailbox<String>? = nil) {
        self.threshold = threshold
        self.prefix = prefix
        self.screen = screen
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
        let line = line(level, text())
        if let screen, screen.post(String(line.dropLast())) { return }
        var bytes = Array(line.utf8)
        _ = Glibc.write(STDERR_FILENO, &bytes, bytes.count)
    }

    /// The line as written. What is not plain becomes `?`: a name from outside cannot forge a line.
    func line(_ level: Level, _ text: String) -> String {
        var line =
            switch prefix {
            case .none: ""
            case .level: "<\(level.rawValue)>"
            case .time: Self.time(WallClock.read().unixNanoseconds / 1_000_000_000) + " "
            }
        for scalar in text.unicodeScalars {
            line.unicodeScalars.append(scalar.isPlain ? scalar : "?")
        }
        return line + "\n"
    }

    /// `2026-11-22 06:45:00`, in this machine's zone.
    ///
    /// - Parameter unixSeconds: since 1970.
    static func time(_ unixSeconds: Int64) -> String {
        var time = time_t(unixSeconds)
        var parts = tm()
        localtime_r(&time, &parts)
        var buffer = [CChar](repeating: 0, count: 32)
        let count = strftime(&buffer, buffer.count, "%Y-%m-%d %H:%M:%S", &parts)
        return String(decoding: buffer.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
