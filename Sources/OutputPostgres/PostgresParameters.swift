import CollectorConfiguration
import Glibc
import Outputs

/// What libpq is told. It would take what it is not told from its own environment (PGHOST,
/// ~/.pgpass, …), so it is told everything, unless a service is to say it.
struct PostgresParameters {
    let list: [(keyword: String, value: String)]
    /// "the database rivulet on 10.0.0.2:5432".
    let place: String

    init(_ settings: PostgresSettings) throws(OutputFault) {
        place = Self.place(settings)
        let common = [
            ("application_name", "rivulet"), ("client_encoding", "UTF8"),
            ("options", Self.options(settings)), ("keepalives", "1"), ("keepalives_idle", "30"),
            ("tcp_user_timeout", Self.milliseconds(settings.timeLimit)),
        ]
        switch settings.place {
        case .service(let name): list = common + [("service", name)]
        case .server(let host, let port):
            list =
                common
                + [
                    ("host", host), ("port", String(port)), ("dbname", settings.database),
                    ("user", settings.user), ("gssencmode", "disable"),
                    ("target_session_attrs", "any"),
                ] + (try Self.password(settings, place)) + Self.tls(settings.tls)
        }
    }

    static func target(_ settings: PostgresSettings) -> String {
        switch settings.place {
        case .service(let name): "service \(name)"
        case .server(let host, let port):
            host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        }
    }

    private static func place(_ settings: PostgresSettings) -> String {
        switch settings.place {
        case .service: "PostgreSQL (\(target(settings)))"
        case .server: "the database \(settings.database) on \(target(settings))"
        }
    }

    /// The server's own limits end what goes on there when we no longer wait for it; a transaction
    /// of a collector that vanished holds its locks for no longer than a minute. Hash and merge
    /// joins would read a month of readings where a batch needs few of them.
    private static func options(_ settings: PostgresSettings) -> String {
        let limit = milliseconds(settings.timeLimit)
        return [
            "statement_timeout=\(limit)", "lock_timeout=\(limit)",
            "idle_in_transaction_session_timeout=60000", "TimeZone=UTC", "DateStyle=ISO",
            "search_path=pg_catalog", "enable_hashjoin=off", "enable_mergejoin=off", "jit=off",
            "synchronous_commit=on",
        ].map { "-c \($0)" }.joined(separator: " ")
    }

    private static func password(
        _ settings: PostgresSettings, _ place: String
    ) throws(OutputFault) -> [(String, String)] {
        do throws(PasswordSource.Fault) {
            guard let password = try settings.password.read() else {
                // Any password keeps the library from taking PGPASSWORD.
                let isTold = getenv("PGPASSWORD") != nil
                return [("passfile", Self.nothing)] + (isTold ? [("password", "-")] : [])
            }
            return [("password", password)]
        } catch {
            throw OutputFault(.refused, "\(place): \(error)")
        }
    }

    private static func tls(_ tls: ServerTLS) -> [(String, String)] {
        guard tls.isOn else { return [("sslmode", "disable")] }
        let none = nothing
        return [
            ("sslmode", tls.isVerified ? "verify-full" : "require"),
            ("sslrootcert", tls.isVerified ? tls.authority ?? ServerTLS.systemAuthorities : none),
            ("sslcert", tls.certificate ?? none), ("sslkey", tls.key ?? none), ("sslcrl", none),
            ("ssl_min_protocol_version", "TLSv1.2"), ("sslcompression", "0"), ("sslsni", "1"),
        ]
    }

    /// A file that does not exist stands for none.
    private static let nothing = "/dev/null/none"

    private static func milliseconds(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        return String(seconds * 1_000 + attoseconds / 1_000_000_000_000_000)
    }
}
