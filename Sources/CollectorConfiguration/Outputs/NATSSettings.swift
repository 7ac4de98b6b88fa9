import Configuration

/// `nats:` of an output.
public struct NATSSettings: Equatable, Sendable {
    /// `host:port`, without a scheme.
    public var servers: [String]
    /// The stream that the readings go into.
    public var stream: String
    /// The first word of each subject.
    public var prefix: String
    public var user: String?
    public var password: PasswordSource
    /// A file with a user's JWT and seed, as `nsc` makes them.
    public var credentials: String?
    public var tls: ServerTLS
    public var timeLimit: Duration
    /// Of a stream that we make.
    public var limits: NATSStreamLimits

    static let serversMax = 16

    static let table = KeyTable(
        "nats",
        [
            Key(
                "servers",
                .list(element: "host or host:port, such as 10.0.0.2:4222", most: serversMax),
                .required, "The servers of the cluster; when one is down, another is tried."),
            Key(
                "stream", .text(1...32), .value("RIVULET"),
                "The stream: letters, digits, - and _."),
            Key(
                "subject", .text(1...63), .value("rivulet"),
                "What subjects begin with: words of letters, digits, - and _, separated by dots."),
            Key("user", .text(1...255), .described("none"), "The user name."),
        ] + PasswordSource.keys + [
            Key(
                "credentials", .path, .described("none"),
                "A file made by `nsc` with JWT and seed, instead of user and password. Only its "
                    + "owner may be able to read it."),
            ServerTLS.key("off"),
            Key(
                "time-limit", .duration(.seconds(2) ... .seconds(300)), .value("10s"),
                "How long the servers may take to confirm a batch before it is sent again."),
        ] + NATSStreamLimits.keys)

    init(_ section: Section) {
        let given = section.list("servers") { $0.contains("@") || Self.isServer($0) }
        servers = given.map(\.text).filter(Self.isServer)
        stream = section.text("stream") ?? ""
        prefix = section.text("subject") ?? ""
        user = section.text("user")
        password = PasswordSource(section)
        credentials = section.text("credentials")
        tls = ServerTLS(section, isOn: false)
        timeLimit = section.duration("time-limit")
        limits = NATSStreamLimits(section)
        // What stands before it is not shown: it may be a password.
        for entry in given where entry.text.contains("@") {
            section.add(
                at: entry.mark,
                "an entry of servers has an @; user and password have keys of their own")
        }
        if case .sequence(let items)? = section.node("servers")?.value, items.isEmpty {
            section.add("servers", "servers must name at least one server")
        }
        if !Self.isWord(stream) {
            section.add("stream", "stream must be letters, digits, - and _")
        }
        let words = prefix.split(separator: ".", omittingEmptySubsequences: false)
        if !words.allSatisfy({ Self.isWord(String($0)) }) {
            section.add("subject", "subject must be words of letters, digits, - and _")
        }
        if credentials != nil, user != nil || password != .none {
            section.add("credentials", "credentials excludes user and password; leave one out")
        }
        if user == nil, password != .none {
            section.add("user", "a password needs a user")
        }
    }

    private static func isWord(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy(isWordByte)
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, UInt8(ascii: "-"), UInt8(ascii: "_"): true
        default: false
        }
    }

    /// No scheme, and no user and password in it: those would be shown.
    private static func isServer(_ text: String) -> Bool {
        guard (1...255).contains(text.utf8.count), !text.contains("@"), !text.contains("/"),
            text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f })
        else { return false }
        guard let colon = text.lastIndex(of: ":"), !text.hasSuffix("]") else { return true }
        let digits = text[text.index(after: colon)...]
        return UInt16(digits).map { $0 > 0 } ?? false
    }
}

/// How a stream is made that is not there. One that is there is never changed.
public struct NATSStreamLimits: Equatable, Sendable {
    /// How many servers keep a copy; nil: three, or as many as there are.
    public var replicas: Int?
    /// How long messages are kept; zero: for ever.
    public var age: Duration
    /// Of all messages; zero: no limit.
    public var bytes: Int
    /// How long the servers know a message again that comes twice.
    public var duplicates: Duration

    static let keys = [
        Key(
            "replicas", .integer(1...5), .described("3, or 1 without a cluster"),
            "For a new stream: how many servers keep a copy."),
        Key(
            "max-age", .duration(.zero ... .seconds(86_400 * 3_650)), .value("0"),
            "For a new stream: how long messages are kept; 0: forever."),
        Key(
            "max-size", .size(0...1 << 44), .value("0"),
            "For a new stream: beyond this size the oldest messages are deleted; 0: no limit."),
        Key(
            "duplicates", .duration(.seconds(120) ... .seconds(86_400)), .value("30min"),
            "For a new stream: its duplicate window, in which a repeated message is recognised. "
                + "The servers keep the ids of that time in memory."),
    ]

    init(_ section: Section) {
        replicas = section.integerIfGiven("replicas")
        age = section.duration("max-age")
        bytes = section.integer("max-size")
        duplicates = section.duration("duplicates")
    }
}
