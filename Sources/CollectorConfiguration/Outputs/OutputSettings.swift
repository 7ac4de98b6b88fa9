import Configuration
import NearbyCore

/// One entry of `outputs`: where readings go behind the store.
public struct OutputSettings: Equatable, Sendable {
    public enum Kind: Equatable, Sendable {
        case json(JSONOutputSettings)
        case influx(InfluxSettings)
        case prometheus(RemoteWriteSettings)
        case postgres(PostgresSettings)
        case nats(NATSSettings)
        case mqtt(MQTTSettings)
    }

    /// Unlike all others'; the place in the store is kept under it.
    public var name: String
    public var kind: Kind
    /// Whether it begins with what the store had before the output was configured.
    public var wantsHistory: Bool
    /// For how long beyond `keep` the store keeps what the output has not delivered.
    public var hold: Duration

    /// Whether it has standard output for itself.
    public var isOnStandardOutput: Bool {
        if case .json(let settings) = kind, case .standardOutput = settings.place {
            true
        } else {
            false
        }
    }

    var isMQTT: Bool { if case .mqtt = kind { true } else { false } }

    static let table = KeyTable(
        "outputs",
        [
            Key(
                "name", .text(1...63), .described("kind and target"),
                "The store keeps the output's cursor under this name: with another name the "
                    + "output begins again. An output without a name keeps its place when its "
                    + "address changes, if no other unnamed output of its kind changes at the same "
                    + "time."),
            Key(
                "json", .section, .described("none"),
                "A JSON object a line: to a file, to standard output, or to a command."),
            Key("influx", .section, .described("none"), "InfluxDB, or a server with its API."),
            Key(
                "prometheus", .section, .described("none"),
                "Prometheus, or a server that accepts its remote write."),
            Key(
                "postgres", .sectionOrPair("service=rivulet"), .described("none"), "PostgreSQL."),
            Key("nats", .section, .described("none"), "NATS with JetStream."),
            Key(
                "mqtt", .section, .described("none"),
                "An MQTT broker: topics, Home Assistant, Sparkplug."),
            Key(
                "history", .flag,
                .described("true for postgres, influx, nats and a JSON file"),
                "Whether it also delivers what was in the store before the output was configured."),
            Key(
                "hold", .duration(.zero ... .seconds(3_650 * 86_400)), .value("7d"),
                "How long beyond `keep` the store keeps what the output has not delivered."),
        ])

    /// In the order of the reference.
    static let tables = [
        table, JSONOutputSettings.table, PostgresSettings.table, NATSSettings.table,
        MQTTSettings.table, MQTTSettings.homeAssistantTable, MQTTSettings.sparkplugTable,
        InfluxSettings.table, RemoteWriteSettings.table, ServerTLS.table,
    ]

    private static let kinds = ["json", "influx", "prometheus", "postgres", "nats", "mqtt"]

    /// - Parameter section: the whole configuration.
    static func decode(_ section: Section, hasStore: Bool) -> [OutputSettings] {
        let sections = section.sections("outputs", table)
        if !sections.isEmpty, !hasStore {
            section.add(
                "outputs", "outputs follow the store, and `collector: store` is off; give it one")
        }
        var names: Set<String> = []
        var outputs: [OutputSettings] = []
        for section in sections {
            guard let output = OutputSettings(section) else { continue }
            if !names.insert(output.name).inserted {
                section.add(
                    "name",
                    "two outputs are called \(PlainText.shown(output.name)); give each a name of "
                        + "its own")
            }
            for other in outputs {
                if let clash = output.kind.clash(with: other.kind) {
                    section.add(output.kind.name, clash)
                } else if let doubt = output.kind.overlap(with: other.kind) {
                    section.warn(output.kind.name, doubt)
                }
            }
            outputs.append(output)
        }
        return outputs
    }

    private init?(_ section: Section) {
        let given = Self.kinds.filter { section.node($0) != nil }
        guard given.count == 1, let key = given.first else {
            section.addNotOne(of: Self.kinds, in: "an output", at: "name")
            return nil
        }
        kind = Kind(key, section)
        name = section.text("name") ?? kind.defaultName
        wantsHistory = section.flagIfGiven("history") ?? kind.wantsHistory
        hold = section.duration("hold")
    }
}

extension OutputSettings.Kind {
    fileprivate init(_ key: String, _ section: Section) {
        switch key {
        case "influx": self = .influx(InfluxSettings(section.section(key, InfluxSettings.table)))
        case "prometheus":
            self = .prometheus(
                RemoteWriteSettings(section.section(key, RemoteWriteSettings.table)))
        case "postgres":
            self = .postgres(PostgresSettings(section.section(key, PostgresSettings.table)))
        case "nats": self = .nats(NATSSettings(section.section(key, NATSSettings.table)))
        case "mqtt": self = .mqtt(MQTTSettings(section.section(key, MQTTSettings.table)))
        default:
            self = .json(JSONOutputSettings(section.section(key, JSONOutputSettings.table)))
        }
    }

    /// The key in the configuration.
    public var name: String {
        switch self {
        case .json: "json"
        case .influx: "influx"
        case .prometheus: "prometheus"
        case .postgres: "postgres"
        case .nats: "nats"
        case .mqtt: "mqtt"
        }
    }

    /// What an output is called that has no name of its own. A target may be longer than what names
    /// a place.
    public var defaultName: String { String("\(name) \(target)".prefix(120)) }

    /// Where it goes, without secrets.
    public var target: String {
        switch self {
        case .json(let settings): settings.target
        case .influx(let settings): settings.server.address?.target ?? ""
        case .prometheus(let settings): settings.server.address?.target ?? ""
        case .postgres(let settings):
            switch settings.place {
            case .service(let name): "service \(name)"
            case .server(let host, let port):
                host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
            }
        case .nats(let settings): settings.servers.joined(separator: ", ")
        case .mqtt(let settings): settings.target
        }
    }

    /// Where old readings are of use, and taken.
    fileprivate var wantsHistory: Bool {
        switch self {
        case .influx, .postgres, .nats: true
        case .json(let settings):
            if case .file = settings.place { true } else { false }
        case .prometheus, .mqtt: false
        }
    }
}
