import Configuration

/// `mqtt:` of an output: a broker, and what is said there.
public struct MQTTSettings: Equatable, Sendable {
    public enum Version: Equatable, Sendable {
        /// MQTT 5, and 3.1.1 with brokers that do not know it.
        case newest
        case v311
    }

    /// What readings look like.
    public enum Payload: Equatable, Sendable { case json, value }

    /// What is spoken.
    public enum Dialect: Equatable, Sendable {
        /// A topic for each channel; with a prefix, Home Assistant is told of them there.
        case topics(homeAssistant: String?)
        case sparkplug(group: String, edge: String, host: String?)
    }

    public var host: String
    public var port: UInt16
    public var tls: ServerTLS
    public var user: String?
    public var password: PasswordSource
    /// Nil: made of the collector's PeerID.
    public var clientID: String?
    public var version: Version
    public var prefix: String
    public var payload: Payload
    public var isRetained: Bool
    /// Whether readings that are no news are published too.
    public var wantsLate: Bool
    /// A node that was silent for so long is forgotten by the broker too.
    public var forget: Duration
    public var dialect: Dialect

    static let table = KeyTable(
        "mqtt",
        [
            Key("host", .text(1...253), .required, "The broker: a name or an address."),
            Key(
                "port", .integer(1...65_535), .described("1883, with `tls` 8883"),
                "The broker's port."),
            ServerTLS.key("off"),
            Key("user", .text(1...255), .described("none"), "The user at the broker."),
        ] + PasswordSource.keys + [
            Key(
                "client-id", .text(1...128),
                .described(
                    "`rivulet-` and characters made from the collector's PeerID and the output's "
                        + "name"),
                "The name that the broker knows this client by. No two clients may share one."),
            Key(
                "version", .choice(["5", "3.1.1"]), .value("5"),
                "The version of MQTT; 3.1.1 is also used if the broker does not support 5."),
            Key("prefix", .text(1...128), .value("rivulet"), "What all topics begin with."),
            Key(
                "payload", .choice(["json", "value"]), .value("json"),
                "A JSON object, or the bare value (`null` if there is none)."),
            Key(
                "retain", .flag, .value("true"),
                "Whether the broker retains each channel's newest reading."),
            Key(
                "late", .choice(["skip", "publish"]), .value("skip"),
                "Readings that are older than what was already published: skipped, or published "
                    + "without being retained, with `\"late\":true`."),
            Key(
                "forget", .duration(.seconds(60)...(.seconds(86_400) * 3_650)), .value("30d"),
                "A node that has been silent for that long is removed from the broker and from "
                    + "Home Assistant."),
            Key(
                "home-assistant", .sectionOrWord(["true", "false"]), .value("false"),
                "Whether nodes and channels are announced to Home Assistant."),
            Key(
                "sparkplug", .section, .described("none"),
                "Sparkplug B instead of plain topics."),
        ])

    static let homeAssistantTable = KeyTable(
        "home-assistant",
        [
            Key(
                "prefix", .text(1...128), .value("homeassistant"),
                "The discovery prefix that Home Assistant's MQTT integration is set to.")
        ])

    static let sparkplugTable = KeyTable(
        "sparkplug",
        [
            Key("group", .text(1...128), .value("rivulet"), "The group ID."),
            Key(
                "edge", .text(1...128), .required,
                "The edge node ID of this collector, unique in its group."),
            Key(
                "host", .text(1...128), .described("none"),
                "The primary host application: while it is offline, readings wait."),
        ])

    init(_ section: Section) {
        host = section.text("host") ?? ""
        tls = ServerTLS(section, isOn: false)
        port = UInt16(section.integerIfGiven("port") ?? (tls.isOn ? 8_883 : 1_883))
        user = section.text("user")
        password = PasswordSource(section)
        clientID = section.text("client-id")
        version = section.text("version") == "3.1.1" ? .v311 : .newest
        prefix = section.text("prefix") ?? "rivulet"
        payload = section.text("payload") == "value" ? .value : .json
        isRetained = section.flag("retain")
        wantsLate = section.text("late") == "publish"
        forget = section.duration("forget")
        dialect = Self.dialect(section)
        checkWords(section)
    }

    /// Where it goes, without secrets: `10.0.0.2:8883`.
    public var target: String { (host.contains(":") ? "[\(host)]" : host) + ":\(port)" }

    private func checkWords(_ section: Section) {
        if host.utf8.contains(where: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: " ") }) {
            section.add("host", "host is a name or an address, such as broker.lan, without mqtt://")
        }
        if let fault = TopicWords.fault(ofPath: prefix) { section.add("prefix", "prefix \(fault)") }
        if !tls.isVerified {
            section.add("tls", "a broker's certificate is always checked; leave verify out")
        }
        guard password != .none else { return }
        if user == nil { section.add("user", "a password has no use without user; add user") }
        if user != nil, !tls.isOn, !Self.isLoopback(host) {
            section.warn(
                "user", "without tls the password and all readings cross the network in the clear")
        }
    }

    private static func isLoopback(_ host: String) -> Bool {
        host == "localhost" || host == "::1" || host.hasPrefix("127.")
    }

    private static func dialect(_ section: Section) -> Dialect {
        guard section.node("sparkplug") != nil else {
            return .topics(homeAssistant: homeAssistantPrefix(section))
        }
        let sparkplug = section.section("sparkplug", sparkplugTable)
        for name in ["prefix", "payload", "retain", "late", "forget", "home-assistant"]
        where section.node(name) != nil {
            section.add(
                name,
                "\(name) has no use with sparkplug; leave it out, or make a second output of it")
        }
        for name in ["group", "edge", "host"] {
            guard let text = sparkplug.text(name), let fault = TopicWords.fault(ofSegment: text)
            else { continue }
            sparkplug.add(name, "\(name) \(fault)")
        }
        return .sparkplug(
            group: sparkplug.text("group") ?? "rivulet", edge: sparkplug.text("edge") ?? "",
            host: sparkplug.text("host"))
    }

    private static func homeAssistantPrefix(_ section: Section) -> String? {
        if section.word("home-assistant") == "true" { return "homeassistant" }
        guard case .mapping? = section.node("home-assistant")?.value else {
            _ = section.text("home-assistant")
            return nil
        }
        let given = section.section("home-assistant", homeAssistantTable)
        let prefix = given.text("prefix") ?? "homeassistant"
        if let fault = TopicWords.fault(ofPath: prefix) { given.add("prefix", "prefix \(fault)") }
        return prefix
    }
}

/// What may stand in a topic's name (MQTT 5.0 §4.7).
enum TopicWords {
    static func fault(ofSegment text: String) -> String? {
        text.utf8.contains(UInt8(ascii: "/")) ? "must not hold /" : fault(ofPath: text)
    }

    /// - Parameter text: one or several segments.
    static func fault(ofPath text: String) -> String? {
        if text.contains("+") || text.contains("#") { return "must not hold + or #" }
        if text.hasPrefix("$") { return "must not begin with $, which is the broker's" }
        // Without searching for a text: an agent would need regular expressions for it.
        let slashes = text.utf8.map { $0 == UInt8(ascii: "/") }
        let isDoubled = zip(slashes, slashes.dropFirst()).contains { $0 && $1 }
        if slashes.first == true || slashes.last == true || isDoubled {
            return "must not begin or end with /, nor have two of them in a row"
        }
        return nil
    }
}
