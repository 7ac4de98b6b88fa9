import NearbyCore
import NodeShell

@testable import Survey

/// A network as a node's status has it: south – relay – barn – east, south – north, and west,
/// which is gone.
enum Fixtures {
    static let south = PeerID(high: 1 << 60, low: 1)
    static let relay = PeerID(high: 2 << 60, low: 2)
    static let barn = PeerID(high: 3 << 60, low: 3)
    static let east = PeerID(high: 4 << 60, low: 4)
    static let north = PeerID(high: 5 << 60, low: 5)
    static let west = PeerID(high: 6 << 60, low: 6)

    /// - Parameter names: in place of those that nodes have otherwise.
    static func map(names: [PeerID: String] = [:]) throws -> NetworkMap {
        try NetworkMap(status: status(names: names).description)
    }

    static func status(names: [PeerID: String] = [:]) -> JSONValue {
        func name(_ peer: PeerID, _ usual: String) -> (String, JSONValue) {
            ("name", .string(names[peer] ?? usual))
        }
        func node(
            _ peer: PeerID, _ name: (String, JSONValue), _ role: String, via: PeerID? = nil,
            hops: Int64? = nil, age: Int64? = nil
        ) -> JSONValue {
            .object([
                ("peer", .string("\(peer)")), name, ("role", .string(role)),
                ("online", .flag(age == nil)), ("lastSeenSeconds", .number(age ?? 0)),
                ("neighbour", .flag(via == nil)),
                ("via", via.map { .string("\($0)") } ?? .null),
                ("hops", hops.map { .number($0) } ?? .null), ("later", .array([.null])),
            ])
        }
        func route(_ peer: PeerID, _ metric: Int64) -> JSONValue {
            .object([("destination", .string("\(peer)")), ("metric", .number(metric))])
        }
        func neighbour(
            _ peer: PeerID, _ link: String, _ interface: String, _ cost: Int64, _ loss: Int64
        ) -> JSONValue {
            .object([
                ("peer", .string("\(peer)")), ("link", .string(link)),
                ("interface", .string(interface)), ("cost", .number(cost)),
                ("lossPercent", .number(loss)),
            ])
        }
        return .object([
            ("peer", .string("\(south)")), name(south, "south"), ("role", .string("agent")),
            ("network", .string("greenhouse")),
            (
                "nodes",
                .array([
                    node(relay, name(relay, "relay"), "relay", hops: 1),
                    node(barn, ("name", .null), "node", via: relay),
                    node(east, name(east, "east"), "collector", via: relay, hops: 3),
                    node(north, name(north, "north"), "agent", hops: 1),
                    node(west, name(west, "west"), "agent", via: relay, age: 300),
                ])
            ),
            (
                "routes",
                .array([route(relay, 261), route(barn, 357), route(east, 453), route(north, 96)])
            ),
            (
                "neighbours",
                .array([
                    neighbour(relay, "wifi", "wlan0", 261, 2),
                    neighbour(north, "ethernet", "eth0", 96, 0),
                ])
            ),
            (
                "peers",
                .array([relay, east, north].map { .object([("peer", .string("\($0)"))]) })
            ),
        ])
    }

    static func answered(
        _ peer: PeerID, hops: Int, milliseconds: Int64 = 1, link: String? = nil, name: String = ""
    ) -> EchoReply {
        .answered(
            .init(
                nanoseconds: milliseconds * 1_000_000, hops: hops, link: link, from: short(peer),
                name: name))
    }

    static func short(_ peer: PeerID) -> String { String(peer.description.prefix(11)) }

    /// Names that mean to harm: a terminal, a line of text, XML, JSON.
    static let hostileNames = [
        "a\u{1b}[2J\u{1b}]0;x\u{7}", "two\nlines", "tab\tbed", "</text><script>alert(1)</script>",
        "\"&'<>", "\u{202e}gnp.exe", "\u{0}\u{ffff}", "rvs1secretsecret",
        String(repeating: "長", count: 21), "back\\0aslash\\", "\"},{\"peer\":1",
        // With a mark behind it a sign is another character, and the same bytes in a file.
        "<\u{301}b&\u{301}\"\u{301}",
    ]
}
