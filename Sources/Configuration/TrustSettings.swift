import NearbyCore

/// Who is let in, as written in the configuration.
public enum TrustSettings: Sendable {
    /// Whoever knows the network's secret.
    case secret
    case anybody
    /// These peers, at most 1,024 and at least one.
    case pinned([PeerID])
    /// Those whose certificates lead to an authority's.
    case authority(AuthoritySettings)

    static let table = KeyTable(
        "trust",
        [
            Key(
                "pinned", .list(element: "a PeerID as `rivulet identity` shows it", most: 1_024),
                .described("none"), "The only nodes that are let in, by their keys."),
            Key(
                "authority", .path, .described("none"),
                "The authority's certificates, PEM: whose chain leads to one of them is let in. "
                    + "Collectors and viewers need a certificate with the URI "
                    + "`rivulet:role:collector` or `rivulet:role:viewer` as alternative name."),
            Key(
                "certificate", .path, .described("`certificate.pem` in `state`"),
                "With `authority`: this node's certificate and those between it and the "
                    + "authority's, PEM; `rivulet identity import` stores it."),
            Key(
                "key", .path, .described("the identity's own in `state`"),
                "With `authority`: the private key (ECDSA P-256, PEM), where another program "
                    + "keeps it. Only its owner may be able to read it."),
        ])

    /// Whether others know this node by its key, so that another key would be of no use.
    public var isByKey: Bool {
        switch self {
        case .secret, .anybody: false
        case .pinned, .authority: true
        }
    }

    /// - Parameter section: the whole configuration.
    init(_ section: Section, state: String) {
        self = .secret
        guard let node = section.node("trust") else { return }
        if case .scalar(let word, _) = node.value {
            if ["pinned", "authority"].contains(word) {
                let form = word == "pinned" ? "[PEERID, …]" : "/etc/rivulet/authority.pem"
                section.add("trust", "trust: \(word) wants more: `trust: {\(word): \(form)}`")
                self = .pinned([])
            } else if section.text("trust") == "any" {
                self = .anybody
            }
            return
        }
        guard case .mapping = node.value else {
            section.add(
                "trust", "trust must be \(Key.Form.sectionOrWord(["secret", "any"]).expected)")
            return
        }
        let trust = section.section("trust", Self.table)
        switch (trust.node("pinned") != nil, trust.text("authority")) {
        case (true, let authority):
            if authority != nil {
                trust.add("authority", "pinned and authority are both given; leave one out")
            }
            self = .pinned(Self.pinned(trust))
        case (false, let authority?):
            self = .authority(AuthoritySettings(trust, anchors: authority, state: state))
        case (false, nil) where trust.node("authority") != nil: break
        case (false, nil):
            section.add("trust", "trust needs pinned or authority, or the word secret or any")
        }
        guard case .pinned = self else { return }
        for key in ["certificate", "key"] where trust.node(key) != nil {
            trust.add(key, "\(key) has no use without `authority`; leave it out")
        }
    }

    private static func pinned(_ trust: Section) -> [PeerID] {
        if case .sequence(let items)? = trust.node("pinned")?.value, items.isEmpty {
            trust.add("pinned", "pinned is empty: nobody would be let in; name one at least")
        }
        return trust.list("pinned") { PeerID(text: $0) != nil }.compactMap { PeerID(text: $0.text) }
    }
}

/// The files of `trust: authority`, with the places where they are named.
public struct AuthoritySettings: Sendable {
    public var anchors: String
    public var certificate: String
    /// Nil: the identity's own.
    public var key: String?
    /// Of `authority` in the file, and of what is left out.
    public var mark: Mark
    public var certificateMark: Mark
    public var keyMark: Mark

    fileprivate init(_ trust: Section, anchors: String, state: String) {
        self.anchors = anchors
        certificate = trust.text("certificate") ?? state + "/certificate.pem"
        key = trust.text("key")
        let mark = trust.node("authority")?.mark ?? trust.mark
        self.mark = mark
        certificateMark = trust.node("certificate")?.mark ?? mark
        keyMark = trust.node("key")?.mark ?? mark
    }
}
