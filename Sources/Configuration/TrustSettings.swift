import NearbyCore

/// Who is let in, as written in the configuration. Small where it is copied: settings often are.
public final class TrustSettings: Sendable {
    public enum Kind: Sendable {
        /// Whoever knows the network's secret.
        case secret
        case anybody
        /// Only `peers`.
        case pinned
        /// Those whose certificates lead to one in `authority`.
        case authority
    }

    public let kind: Kind
    /// At most 1,024.
    public let peers: [PeerID]
    /// Files, with `kind` authority: the authority's certificates, and this node's.
    public let authority: String
    public let certificate: String
    /// Where the private key is, if it is not the identity's.
    public let key: String?
    /// Where in the file all that is.
    public let mark: Mark

    static let table = KeyTable(
        "trust",
        [
            Key(
                "pinned", .list(element: "a PeerID as `rivulet identity` shows it", most: 1_024),
                .described("none"), "The only nodes that are let in, by their keys."),
            Key(
                "authority", .path, .described("none"),
                "The authority's certificates, PEM: whose chain leads to one of them is let in, as "
                    + "a collector or viewer if it says `rivulet:role:collector` or "
                    + "`rivulet:role:viewer`."),
            Key(
                "certificate", .path, .described("`certificate.pem` in `state`"),
                "With `authority`: this node's certificate and those above it, PEM."),
            Key(
                "key", .path, .described("in `identity.pem` in `state`"),
                "With `authority`: the private key (ECDSA P-256, PEM), if another program keeps "
                    + "it. Only its owner may be able to read it."),
        ])

    /// Whether others know this node by its key, so that another key would be of no use.
    public var isByKey: Bool { kind == .pinned || kind == .authority }

    /// - Parameter section: the whole configuration.
    init(_ section: Section, state: String) {
        let word = section.node("trust") == nil ? "secret" : section.word("trust")
        let trust = section.section("trust", Self.table)
        peers = trust.list("pinned") { PeerID(text: $0) != nil }.compactMap {
            PeerID(text: $0.text)
        }
        authority = trust.text("authority") ?? ""
        certificate = trust.text("certificate") ?? state + "/certificate.pem"
        key = trust.text("key")
        mark = trust.mark
        let given = ["pinned", "authority"].filter { trust.node($0) != nil }
        if word != nil {
            kind = word == "any" ? .anybody : .secret
        } else {
            kind = given == ["pinned"] ? .pinned : .authority
            if case .mapping? = section.node("trust")?.value, given.count != 1 {
                trust.addNotOne(of: ["pinned", "authority"], in: "trust", at: "pinned")
            }
        }
        guard kind == .pinned else { return }
        for name in ["certificate", "key"] where trust.node(name) != nil {
            trust.add(name, "\(name) has no use without authority; leave it out")
        }
        if case .sequence(let items)? = trust.node("pinned")?.value, items.isEmpty {
            trust.add("pinned", "pinned is empty: nobody would be let in")
        }
    }
}
