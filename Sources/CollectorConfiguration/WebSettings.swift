import Configuration

/// The collector's page.
public struct WebSettings: Equatable, Sendable {
    public struct Login: Equatable, Sendable {
        public var user: String
        public var password: String
    }

    public struct TLS: Equatable, Sendable {
        /// PEM.
        public var certificate: [UInt8]
        public var key: [UInt8]
    }

    /// 1–65535.
    public var port: UInt16
    /// An IPv4 or IPv6 address.
    public var bind: String
    var isBehindProxy: Bool
    /// Asked of everybody, if there.
    public var login: Login?
    public var tls: TLS?
    /// Names under which the page is called, beside addresses and this machine's own.
    public var hosts: [String]
    /// Whether /metrics is there.
    public var metrics: Bool

    static let table = KeyTable(
        "web",
        [
            Key("port", .integer(1...65_535), .value("8080"), "Where the page is served."),
            Key(
                "bind", .text(2...45), .value("127.0.0.1"),
                "The address to listen on. The default admits this machine only; one that others "
                    + "can reach, such as 0.0.0.0 or \"::\" (IPv6 and IPv4), needs a password, or "
                    + "a proxy in front."),
            Key(
                "behind-proxy", .flag, .value("false"),
                "Whether a proxy in front takes care of passwords and TLS."),
            Key(
                "user", .text(1...63), .value("rivulet"),
                "The user name that goes with the password."),
            Key(
                "password-file", .path, .described("none"),
                "A file with the password in its first line. Only its owner may be able to read "
                    + "it."),
            Key(
                "password", .text(1...255), .described("none"),
                "The password itself. Better in a file."),
            Key(
                "certificate", .path, .described("none"),
                "With `key`: the page's certificate and those above it, PEM. The page is then "
                    + "served over HTTPS."),
            Key(
                "key", .path, .described("none"),
                "The certificate's private key, PEM. Only its owner may be able to read it."),
            Key(
                "hosts", .list(element: "a host name such as weather.example.org", most: 16),
                .described("none"),
                "Host names that people use for the page, besides addresses, localhost and this "
                    + "machine's own name. Requests for others are refused, or a foreign web page "
                    + "could read this one through them."),
            Key("metrics", .flag, .value("true"), "Whether /metrics is served, for Prometheus."),
        ])

    /// Nil if nothing was given.
    init?(_ section: Section, isGiven: Bool) {
        guard isGiven else { return nil }
        port = UInt16(clamping: section.integer("port"))
        bind = section.text("bind") ?? ""
        isBehindProxy = section.flag("behind-proxy")
        metrics = section.flag("metrics")
        hosts = section.list("hosts", where: HostName.isValid).map { $0.text.lowercased() }
        login = Self.login(section)
        tls = Self.tls(section)
        checkExposure(section)
    }

    /// Nobody is to be let in by an oversight.
    private func checkExposure(_ section: Section) {
        guard let isLoopback = HostName.isLoopback(bind) else {
            section.add(
                "bind",
                "bind is '\(PlainText.shown(bind))'; it must be an address such as 127.0.0.1, "
                    + "0.0.0.0 or \"::\"")
            return
        }
        guard !isLoopback else { return }
        let hasPassword = ["password", "password-file"].contains { section.node($0) != nil }
        if !hasPassword, !isBehindProxy {
            section.add(
                "bind",
                "bind: \(bind) shows the page to everybody who reaches this machine; give a "
                    + "password-file, or write `behind-proxy: true` if a proxy asks for one")
        } else if hasPassword, tls == nil, !isBehindProxy, section.node("certificate") == nil {
            section.warn(
                "bind",
                "the password goes through the network unencrypted; give certificate and key, or "
                    + "put a proxy with TLS in front")
        }
    }

    // MARK: Files

    private static func login(_ section: Section) -> Login? {
        let given = ["password", "password-file"].filter { section.node($0) != nil }
        if given.count == 2 {
            section.add("password", "password and password-file are both given; leave one out")
        }
        if given.isEmpty, section.node("user") != nil {
            section.add("user", "user has no use without password-file; leave it out")
        }
        guard let user = section.text("user") else { return nil }
        if user.utf8.contains(UInt8(ascii: ":")) {
            section.add("user", "user must not have a colon")
        }
        let password: String?
        if section.node("password") != nil {
            password = section.text("password")
            section.warn(
                "password",
                "whoever reads this file knows the password; put it into a file of its own and "
                    + "name that as password-file")
        } else {
            password = passwordFile(section)
        }
        return password.map { Login(user: user, password: $0) }
    }

    private static func passwordFile(_ section: Section) -> String? {
        guard let bytes = contents("password-file", section, limit: 1_024, isPrivate: true)
        else { return nil }
        let line = bytes.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
        let password = String(decoding: line, as: UTF8.self)
        guard !line.isEmpty, Array(password.utf8) == Array(line), PlainText.isPrintable(password)
        else {
            section.add(
                "password-file",
                "the password file has no password in its first line; write one with "
                    + "`umask 077; openssl rand -base64 12 > FILE`")
            return nil
        }
        if password.utf8.count < 8 {
            section.warn("password-file", "a password of under 8 bytes is soon guessed")
        }
        return password
    }

    private static func tls(_ section: Section) -> TLS? {
        let given = ["certificate", "key"].filter { section.node($0) != nil }
        guard !given.isEmpty else { return nil }
        guard given.count == 2 else {
            section.add(given[0], "certificate and key belong together; give both")
            return nil
        }
        guard let certificate = contents("certificate", section, limit: 65_536),
            let key = contents("key", section, limit: 65_536, isPrivate: true)
        else { return nil }
        return TLS(certificate: certificate, key: key)
    }

    private static func contents(
        _ key: String, _ section: Section, limit: Int, isPrivate: Bool = false
    ) -> [UInt8]? {
        guard let path = section.text(key), PathText.fault(path, "") == nil else { return nil }
        do throws(SmallFile.Fault) {
            return try SmallFile.read(path, limit: limit, isPrivate: isPrivate)
        } catch {
            section.add(key, "\(key) \(PlainText.shown(path)): \(error)")
            return nil
        }
    }
}
