import Configuration

/// `postgres:` of an output.
public struct PostgresSettings: Equatable, Sendable {
    public enum Place: Equatable, Sendable {
        /// A name or address, or the folder of a socket.
        case server(host: String, port: UInt16)
        /// A section of libpq's pg_service.conf, which says everything.
        case service(String)
    }

    public var place: Place
    public var database: String
    public var user: String
    public var password: PasswordSource
    /// Where the tables are; a–z, 0–9 and _.
    public var schema: String
    public var tls: ServerTLS
    /// For each connection, statement and batch.
    public var timeLimit: Duration

    static let table = KeyTable(
        "postgres",
        [
            Key(
                "host", .text(1...255), .value("localhost"),
                "The server, by name or address, or the folder of its socket, such as "
                    + "/var/run/postgresql."),
            Key("port", .integer(1...65_535), .value("5432"), "Its port."),
            Key("database", .text(1...63), .value("rivulet"), "A database that exists."),
            Key("user", .text(1...63), .value("rivulet"), "A role that may create in the schema."),
        ] + PasswordSource.keys + [
            Key(
                "schema", .text(1...48), .value("rivulet"),
                "The schema for the tables: a–z, 0–9 and _, beginning with a letter."),
            ServerTLS.key("on; off for a socket and for this machine"),
            Key(
                "service", .text(1...63), .described("none"),
                "A section of libpq's pg_service.conf, instead of host, port, database, user, "
                    + "password and tls."),
            Key(
                "time-limit", .duration(.seconds(2) ... .seconds(300)), .value("10s"),
                "How long connecting or a statement may take before it is given up and tried "
                    + "again."),
        ])

    init(_ section: Section) {
        let host = section.text("host") ?? ""
        database = section.text("database") ?? ""
        user = section.text("user") ?? ""
        password = PasswordSource(section)
        schema = section.text("schema") ?? ""
        tls = ServerTLS(section, isOn: !Self.isThisMachine(host))
        timeLimit = section.duration("time-limit")
        let port = section.integer("port")
        place = .server(host: host, port: UInt16(clamping: port))
        if host.contains(",") {
            section.add("host", "host is one server; leave out the comma")
        }
        if !Self.isPlain(schema) {
            section.add("schema", "schema must be a–z, 0–9 and _, and begin with a letter")
        }
        guard let service = section.text("service") else { return }
        place = .service(service)
        let given = ["host", "port", "database", "user", "password", "password-file", "tls"]
        for key in given where section.node(key) != nil {
            section.add(key, "\(key) belongs in pg_service.conf when service is given")
        }
    }

    static func isThisMachine(_ host: String) -> Bool {
        host.hasPrefix("/") || host == "localhost" || host == "::1" || host.hasPrefix("127.")
    }

    private static func isPlain(_ name: String) -> Bool {
        guard let first = name.utf8.first, (0x61...0x7a).contains(first) else { return false }
        return !name.hasPrefix("pg_")
            && name.utf8.allSatisfy {
                (0x61...0x7a).contains($0) || (0x30...0x39).contains($0) || $0 == 0x5f
            }
    }
}
