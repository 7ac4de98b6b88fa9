import Configuration
import NearbyCore

/// A server that speaks HTTP: where it is, how it is trusted, who we are to it, and how long it may
/// take.
public struct HTTPServer: Equatable, Sendable {
    public enum Login: Equatable, Sendable {
        case none
        /// HTTP's Basic authentication.
        case password(user: String, PasswordSource)
        /// In the header `Authorization`, behind a word that the server chooses.
        case token(PasswordSource)
    }

    /// Nil where it was wrong, which is told.
    public var address: HTTPAddress?
    public var tls: ServerTLS
    public var login: Login
    /// For a whole request with its answer.
    public var timeLimit: Duration

    static func keys(example: String) -> [Key] {
        [
            Key(
                "url", .text(1...1_023), .required,
                "The address, such as `\(example)`. With https:// its certificate is checked."),
            Key(
                "user", .text(1...255), .described("none"),
                "The user name that goes with `password-file`."),
        ] + PasswordSource.keys + PasswordSource.keys(of: "token") + [
            Key(
                "tls", .section, .described("with https://, the system's authorities"),
                "Which authorities are trusted, and a client certificate if there is one."),
            Key(
                "timeout", .duration(.seconds(1) ... .seconds(300)), .value("10s"),
                "How long a request may take."),
        ]
    }

    /// - Parameter allowsQuery: whether the address may have a `?`.
    init(_ section: Section, allowsQuery: Bool) {
        let isSecure: Bool
        do throws(HTTPAddress.Fault) {
            address = try section.text("url").map(HTTPAddress.init)
        } catch {
            address = nil
            section.add("url", "url \(error.description)")
        }
        isSecure = address?.isSecure ?? true
        tls = ServerTLS(section, isOn: isSecure)
        timeLimit = section.duration("timeout")
        let password = PasswordSource(section)
        let token = PasswordSource(section, of: "token")
        switch (section.text("user"), password, token) {
        case (nil, .none, .none): login = .none
        case (nil, .none, _): login = .token(token)
        case (let user?, _, .none) where password != .none:
            login = .password(user: user, password)
        default:
            login = .none
            section.add(
                "user", "either user and password-file, or token-file; leave the others out")
        }
        check(section, allowsQuery: allowsQuery)
    }

    private func check(_ section: Section, allowsQuery: Bool) {
        guard let address else { return }
        if address.hasQuery, !allowsQuery {
            section.add("url", "url has a ?; leave out what follows, and give it as keys")
        }
        if !address.isSecure, section.node("tls") != nil {
            section.add("tls", "tls has no use with http://; write https://, or leave it out")
        }
        if !address.isSecure, login != .none, !address.isLocal {
            section.warn(
                "url", "the password goes over the network for all to read; use https://")
        }
    }
}
