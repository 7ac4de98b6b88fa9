import Configuration

/// Whether and how a connection to a server is encrypted: `tls:` of an output.
public struct ServerTLS: Equatable, Sendable {
    public var isOn: Bool
    /// Whether the server's certificate and name are checked.
    public var isVerified = true
    /// PEM; nil: the authorities that the system trusts.
    public var authority: String?
    /// What we show the server, PEM.
    public var certificate: String?
    public var key: String?

    /// Debian's bundle of the authorities that browsers trust, for libraries that do not find it.
    public static let systemAuthorities = "/etc/ssl/certs/ca-certificates.crt"

    static let table = KeyTable(
        "tls",
        [
            Key(
                "ca", .path, .described("the authorities that the system trusts"),
                "The authority that signed the server's certificate, PEM."),
            Key(
                "certificate", .path, .described("none"),
                "This collector's certificate for the server, PEM."),
            Key(
                "key", .path, .described("none"),
                "Its private key, PEM. Only its owner may be able to read it."),
            Key(
                "verify", .flag, .value("true"),
                "Whether the server's certificate and name are checked; an MQTT broker's always "
                    + "are. `false` lets anybody in between read and change everything."),
        ])

    /// The key itself, for the table of an output.
    static func key(_ standard: String) -> Key {
        Key(
            "tls", .sectionOrWord(["on", "off"]), .described(standard),
            "Encryption: on, off, or a section with keys of `tls`.")
    }

    /// - Parameters:
    ///   - section: the output's, with the key `tls`.
    ///   - isOn: what holds where the key is left out.
    init(_ section: Section, isOn: Bool) {
        let word = section.node("tls") == nil ? nil : section.word("tls")
        self.isOn = word.map { $0 == "on" } ?? (section.node("tls") != nil || isOn)
        guard section.node("tls") != nil, word == nil else { return }
        let keys = section.section("tls", Self.table)
        isVerified = keys.flag("verify")
        authority = keys.text("ca")
        certificate = keys.text("certificate")
        key = keys.text("key")
        if !isVerified {
            keys.warn("verify", "verify: false lets anybody in between read and change everything")
        }
        if !isVerified, authority != nil {
            keys.add("ca", "ca has no use with verify: false; leave one out")
        }
        if (certificate == nil) != (key == nil) {
            keys.add("certificate", "certificate and key go together")
        }
    }
}
