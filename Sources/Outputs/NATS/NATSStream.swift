/// What is known of a stream that is there.
public struct NATSStream: Hashable, Sendable {
    public var name: String
    public var subjects: [String]
    /// Nanoseconds.
    public var duplicates: Int64
    /// It confirms nothing.
    public var isSilent: Bool
    /// It takes nothing.
    public var isSealed: Bool
    /// It copies another.
    public var isMirror: Bool

    public init(
        name: String, subjects: [String], duplicates: Int64, isSilent: Bool, isSealed: Bool,
        isMirror: Bool
    ) {
        self.name = name
        self.subjects = subjects
        self.duplicates = duplicates
        self.isSilent = isSilent
        self.isSealed = isSealed
        self.isMirror = isMirror
    }

    /// Under which a batch that is sent again could come in twice: two time limits at their
    /// longest, nanoseconds.
    private static let duplicatesMin: Int64 = 120_000_000_000

    /// Why it cannot be used, and what to do; nil if it can.
    /// - Parameter subject: what our messages are sent to.
    public func defect(for subject: String) -> String? {
        if isMirror { return "it is a mirror, which accepts no messages; name another stream" }
        if isSealed { return "it is sealed and accepts no messages; name another stream" }
        if isSilent {
            return "it does not confirm messages; `nats stream edit \(name) --ack`"
        }
        guard subjects.contains(where: { NATSSubject.covers($0, subject) }) else {
            return "it does not listen to \(subject), only to \(subjects.joined(separator: ", ")); "
                + "add it, or name another stream"
        }
        guard duplicates >= Self.duplicatesMin else {
            return "its duplicate window is only \(duplicates / 1_000_000_000) s; "
                + "`nats stream edit \(name) --dupe-window=30m`"
        }
        return nil
    }
}

/// Codes of JetStream's errors that mean something to us (nats-server, errors.json).
public enum NATSErrorCode {
    public static let nameInUse: Int32 = 10_058
    /// More than one replica without a cluster.
    public static let replicasNotSupported: Int32 = 10_074
    static let subjectsOverlap: Int32 = 10_065
    public static let messageTooLarge: Int32 = 10_054
    static let notEnabled: Int32 = 10_076
    static let notEnabledForAccount: Int32 = 10_039
    /// No peers, and not enough space.
    static let noPeers: Int32 = 10_005
    static let insufficientResources: Int32 = 10_023
    static let storageExceeded: Int32 = 10_047
    static let storeFailed: Int32 = 10_077

    /// `(conn.c:1905): Authorization Violation` without its beginning, and without what is no text.
    public static func withoutSourceLine(_ words: String) -> String {
        var rest = words[...]
        if words.hasPrefix("("), let end = words.firstRange(of: "): ") {
            rest = words[end.upperBound...]
        }
        if rest.hasSuffix(": (null)") { rest = rest.dropLast(8) }
        let text = rest.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7f ? " " : $0 }
        return String(String(String.UnicodeScalarView(text)).prefix(300))
    }

    /// Of a connection that fails, by the library's words (3.4); empty if there is nothing to do.
    public static func meaning(
        ofWords said: String
    ) -> (kind: OutputFault.Kind, advice: String) {
        if said.contains("Authorization") || said.contains("Permissions") {
            return (.refused, "check user, password-file or credentials")
        }
        if said.contains("Secure Connection not available") {
            return (.refused, "the server has no TLS: tls: off")
        }
        if said.contains("SSL") || said.contains("certificate") {
            return (
                .refused,
                "check tls, and the server's certificate: its date, its name, its ca"
            )
        }
        if said.contains("Secure Connection required") {
            return (.refused, "the server wants TLS: tls: on")
        }
        return (.unavailable, "")
    }

    /// What to do; empty if nothing.
    public static func meaning(of code: Int32) -> (kind: OutputFault.Kind, advice: String) {
        switch code {
        case notEnabled, notEnabledForAccount:
            (.refused, "JetStream is off: `jetstream {}` in the server's configuration")
        case subjectsOverlap:
            (.unsuitable, "another stream listens to these subjects; name it, or another subject")
        case noPeers:
            (.unavailable, "too few servers run for so many replicas; start them, or set replicas")
        case insufficientResources, storageExceeded, storeFailed:
            (.unavailable, "the servers have no room, or the stream is full; make room there")
        default: (.unavailable, "")
        }
    }
}
