import Configuration
import Glibc

/// Whether a request was meant for this machine. A page from elsewhere can give its own name this
/// machine's address and then read what is served here, unless that name is refused.
struct HostCheck {
    /// In lower case.
    private let names: Set<String>

    /// - Parameter names: beside addresses and localhost.
    init(names: [String]) {
        var all: Set<String> = ["localhost"]
        for name in names {
            let name = name.lowercased()
            all.formUnion([name, name + ".local"])
        }
        self.names = all
    }

    /// - Parameter host: what stands in `Host`: a name or an address, perhaps with a port.
    func allows(_ host: String?) -> Bool {
        guard let host, let name = Self.name(host) else { return false }
        return names.contains(name) || Self.isAddress(name)
    }

    /// Without the port, the brackets of an address and the last point.
    private static func name(_ host: String) -> String? {
        let host = host.lowercased()
        if host.hasPrefix("[") {
            guard let end = host.firstIndex(of: "]"), isPort(host[host.index(after: end)...])
            else { return nil }
            return String(host[host.index(after: host.startIndex)..<end])
        }
        let end = host.firstIndex(of: ":") ?? host.endIndex
        guard isPort(host[end...]) else { return nil }
        let name = host[..<end]
        return String(name.hasSuffix(".") ? name.dropLast() : name)
    }

    private static func isPort(_ text: Substring) -> Bool {
        text.isEmpty
            || text.hasPrefix(":") && UInt16(text.dropFirst()) != nil
                && text.dropFirst().utf8.allSatisfy { (48...57).contains($0) }
    }

    /// An address is no name that anybody else could point here.
    private static func isAddress(_ text: String) -> Bool { HostName.isLoopback(text) != nil }
}
