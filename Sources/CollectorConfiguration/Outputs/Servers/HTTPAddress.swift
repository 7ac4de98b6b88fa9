import Configuration

/// `http://host:port/path`, as far as it has to be understood here.
public struct HTTPAddress: Equatable, Sendable {
    /// As it was written, without a slash at its end. May hold a secret behind the host.
    public let text: String
    public let isSecure: Bool
    /// `host:port`: fit for messages.
    public let target: String
    public let hasQuery: Bool

    /// Why a text is no such address: an end of the sentence "url …".
    public struct Fault: Error, Equatable, Sendable { public var description: String }

    public init(_ text: String) throws(Fault) {
        let lower = text.prefix(8).lowercased()
        isSecure = lower == "https://"
        guard isSecure || lower.hasPrefix("http://") else {
            throw Fault(description: "must begin with http:// or https://")
        }
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }),
            !text.contains(where: { "\"<>\\^`{|}#".contains($0) })
        else {
            throw Fault(
                description: "has characters that an address cannot have; write them as %20")
        }
        let rest = text.dropFirst(isSecure ? 8 : 7)
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        guard !authority.contains("@") else {
            throw Fault(
                description: "has a user in it; use the keys user and password-file instead")
        }
        target = try Self.target(authority, standardPort: isSecure ? 443 : 80)
        hasQuery = rest.contains("?")
        self.text = text.hasSuffix("/") && !hasQuery ? String(text.dropLast()) : text
    }

    /// Whether it is this machine's own.
    public var isLocal: Bool {
        ["localhost:", "127.", "[::1]:"].contains { target.hasPrefix($0) }
    }

    private static func target(
        _ authority: Substring, standardPort: Int
    ) throws(Fault) -> String {
        var host = authority
        var port: Int? = standardPort
        let colon = authority.lastIndex(of: ":")
        if let colon, !authority[colon...].contains("]") {
            host = authority[..<colon]
            port = Quantity.integer(String(authority[authority.index(after: colon)...]))
        }
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        guard !host.isEmpty, isBracketed || !host.contains(":"),
            isBracketed || !host.contains(where: { "[]?".contains($0) })
        else { throw Fault(description: "has no host, or an IPv6 address without [ and ]") }
        guard let port, (1...65_535).contains(port) else {
            throw Fault(description: "has a port that is not a number from 1 to 65535")
        }
        return "\(host):\(port)"
    }
}
