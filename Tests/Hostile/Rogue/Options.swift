import Glibc
import NearbyCore
import NearbyLinux

/// Why an attack cannot begin, or what it did not reach.
struct RogueError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// What is written behind the attack's name: `key=value`, in any order.
struct Options {
    private let values: [String: String]

    init(_ arguments: some Sequence<String>) throws(RogueError) {
        var values: [String: String] = [:]
        for argument in arguments {
            let parts = argument.split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { throw RogueError("\(argument) is not key=value") }
            values[String(parts[0])] = String(parts[1])
        }
        self.values = values
    }

    func text(_ key: String) throws(RogueError) -> String {
        guard let value = values[key] else { throw RogueError("\(key)= is missing") }
        return value
    }

    func text(_ key: String, or standard: String) -> String { values[key] ?? standard }

    func number(_ key: String, or standard: Int64? = nil) throws(RogueError) -> Int64 {
        guard let value = values[key] else {
            guard let standard else { throw RogueError("\(key)= is missing") }
            return standard
        }
        guard let number = Int64(value) else { throw RogueError("\(key)=\(value) is no number") }
        return number
    }

    /// How long the attack lasts: 1 s to 10 min, so that none outlives its case by much.
    func duration() throws(RogueError) -> Duration {
        let seconds = try number("seconds", or: 10)
        guard 1...600 ~= seconds else { throw RogueError("seconds=\(seconds): 1 to 600") }
        return .seconds(seconds)
    }

    /// Bytes a second, at most 20 MB.
    func rate() throws(RogueError) -> Int64 {
        let rate = try number("rate")
        guard 1...20_000_000 ~= rate else { throw RogueError("rate=\(rate): 1 to 20000000") }
        return rate
    }

    /// The node that is attacked, by the interface that is named, else by the kernel's choice.
    func target(_ key: String = "target") throws -> Endpoint {
        let address = try AddressText(parsing: try text(key)).address
        return Endpoint(link: try link() ?? UDPTransport.anyLink, address: address)
    }

    func link() throws(RogueError) -> LinkID? {
        guard let name = values["interface"] else { return nil }
        let index = if_nametoindex(name)
        guard index > 0 else { throw RogueError("there is no interface \(name)") }
        return LinkID(value: index)
    }

    func role() throws(RogueError) -> Role {
        let name = text("role", or: "agent")
        guard let role = Role.allCases.first(where: { "\($0)" == name }) else {
            throw RogueError("role=\(name) is none")
        }
        return role
    }

    func peer(_ key: String) throws(RogueError) -> PeerID {
        guard let peer = PeerID(text: try text(key)) else {
            throw RogueError("\(key)= is no PeerID")
        }
        return peer
    }

    /// Addresses of ours to send from, one socket each.
    func sources() throws(RogueError) -> [String] {
        try text("from").split(separator: ",").map(String.init)
    }
}
