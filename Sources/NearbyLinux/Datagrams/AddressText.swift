import Glibc
import NearbyCore

/// An address as people write it: `10.0.0.5:4577`, `[fe80::1%eth0]:4577`.
public struct AddressText: Hashable, Sendable, CustomStringConvertible {
    public var address: TransportAddress
    /// The name (or number) after `%`: which interface a link-local address belongs to.
    public var interface: String?

    /// What is wrong with the text.
    public enum Fault: Error, Hashable, Sendable, CustomStringConvertible {
        case notAnAddress(String)
        case missingPort(String)
        case badPort(String)
        /// A link-local address is ambiguous without `%interface`.
        case missingInterface(String)

        public var description: String {
            switch self {
            case .notAnAddress(let text):
                "‘\(text)’ is not an IP address with a port, as 10.0.0.5:4577 or [fd00::5]:4577"
            case .missingPort(let text):
                "‘\(text)’ has no port; write it as 10.0.0.5:4577 or [fd00::5]:4577"
            case .badPort(let text): "‘\(text)’: the port must be a number from 1 to 65535"
            case .missingInterface(let text):
                "‘\(text)’ is a link-local address; name its interface, as [fe80::1%eth0]:4577"
            }
        }
    }

    public init(address: TransportAddress, interface: String? = nil) {
        self.address = address
        self.interface = interface
    }

    /// Reads what `description` writes. Without `defaultPort` a port must be there.
    public init(parsing text: String, defaultPort: UInt16? = nil) throws(Fault) {
        let (host, port) = try Self.split(text)
        let parts = host.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let address = Self.address(String(first)) else {
            throw .notAnAddress(text)
        }
        if parts.count == 2 {
            guard case .ipv6 = address, Self.isInterface(parts[1]) else {
                throw .notAnAddress(text)
            }
            interface = String(parts[1])
        } else if address.isLinkScoped {
            throw .missingInterface(text)
        }
        if let port {
            guard let number = Int(port).flatMap({ UInt16(exactly: $0) }), number > 0,
                port.allSatisfy(\.isNumber)
            else {
                throw .badPort(text)
            }
            self.address = address.with(port: number)
        } else {
            guard let defaultPort else { throw .missingPort(text) }
            self.address = address.with(port: defaultPort)
        }
    }

    public var description: String {
        let zone = interface.map { "%" + $0 } ?? ""
        return switch address {
        case .ipv4(_, let port): "\(Self.host(address)):\(port)"
        case .ipv6(_, _, let port): "[\(Self.host(address))\(zone)]:\(port)"
        case .bluetooth: Self.host(address)
        case .simulated(let number): "simulated:\(number)"
        }
    }

    /// The address without its port.
    public var host: String { Self.host(address) + (interface.map { "%" + $0 } ?? "") }

    /// `host`, `host:port`, `[host]`, `[host]:port`, or a bare IPv6 address.
    private static func split(_ text: String) throws(Fault) -> (host: Substring, port: Substring?) {
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { throw .notAnAddress(text) }
            let host = text[text.index(after: text.startIndex)..<end]
            let rest = text[text.index(after: end)...]
            guard !rest.isEmpty else { return (host, nil) }
            guard rest.hasPrefix(":"), host.contains(":") else { throw .notAnAddress(text) }
            return (host, rest.dropFirst())
        }
        guard let colon = text.firstIndex(of: ":"), colon == text.lastIndex(of: ":") else {
            return (text[...], nil)
        }
        return (text[..<colon], text[text.index(after: colon)...])
    }

    /// The kernel's rule for names: 1–15 bytes, no slash, colon or space.
    private static func isInterface(_ name: Substring) -> Bool {
        (1...15).contains(name.utf8.count) && !name.contains { "/: ".contains($0) }
    }

    private static func address(_ host: String) -> TransportAddress? {
        var four = in_addr()
        if inet_pton(AF_INET, host, &four) == 1 {
            return .ipv4(address: UInt32(bigEndian: four.s_addr), port: 0)
        }
        var six = in6_addr()
        guard inet_pton(AF_INET6, host, &six) == 1 else { return nil }
        return .ipv6(high: six.words.high, low: six.words.low, port: 0)
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        let text = String(byte, radix: 16, uppercase: true)
        return byte < 16 ? "0" + text : text
    }

    private static func host(_ address: TransportAddress) -> String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        switch address {
        case .ipv4(let host, _):
            var four = in_addr(s_addr: host.bigEndian)
            inet_ntop(AF_INET, &four, &text, socklen_t(text.count))
        case .ipv6(let high, let low, _):
            var six = in6_addr(high: high, low: low)
            inet_ntop(AF_INET6, &six, &text, socklen_t(text.count))
        case .bluetooth(let number, _):
            return stride(from: 40, through: 0, by: -8).map {
                hexadecimal(UInt8(truncatingIfNeeded: number >> UInt64($0)))
            }.joined(separator: ":")
        case .simulated(let number): return "simulated:\(number)"
        }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
