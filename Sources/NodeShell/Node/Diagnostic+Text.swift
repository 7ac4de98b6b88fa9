import NearbyCore
import NearbyEngine
import NearbyLinux

extension Node.Diagnostic {
    package var level: StandardErrorLog.Level {
        switch self {
        case .neighbourUp, .neighbourMoved: .information
        case .neighbourLost, .nodesVanished, .nodesReturned: .diagnostic
        case .nodeRefused(let node): node.cause == .otherNetwork ? .diagnostic : .warning
        case .refused, .noCollector: .warning
        case .ownIdentityElsewhere: .error
        }
    }

    /// One line: what happened, with whom and where, and what to do.
    package func text(_ runner: NodeRunner) -> String {
        switch self {
        case .neighbourUp(_, let name, let endpoint):
            "neighbour \(name) at \(runner.text(endpoint)) on \(runner.name(of: endpoint.link))"
        case .neighbourMoved(_, let name, let endpoint):
            "neighbour \(name) now at \(runner.text(endpoint)) on "
                + runner.name(of: endpoint.link)
        case .neighbourLost(_, let name): "neighbour \(name) no longer answers"
        case .refused(let peer, let reason, let endpoint, let text):
            "\(peer.map { "\($0)" } ?? "a stranger")"
                + "\(endpoint.map { " at " + runner.text($0) } ?? ""): \(reason.rawValue): \(text)"
        case .nodeRefused(let node): runner.text(node)
        case .nodesVanished(let nodes):
            "out of reach: " + runner.list(nodes, "was via")
        case .nodesReturned(let nodes):
            "in reach again: " + runner.list(nodes, "via")
        case .noCollector(let peer, let name, let role):
            "\(name) (\(peer)) calls itself a collector and was admitted as \(role): it gets no "
                + "readings; if it is no node of yours, change the network's secret"
        case .ownIdentityElsewhere(let endpoint):
            "the node at \(runner.text(endpoint)) has our key too: a card was copied; delete "
                + "identity.pem in the state directory of the copy and restart it"
        }
    }
}

extension NodeRunner {
    /// What is known of a peer's name: from its channel, from Avahi, else how its PeerID begins.
    func name(of peer: PeerID) -> String { knownName(of: peer) ?? peer.shortText }

    package func knownName(of peer: PeerID) -> String? {
        node.name(of: peer) ?? node.knownNode(peer)?.name ?? advertisedName?(peer)
    }

    /// Nil where a name would say no more than how the PeerID begins.
    func distinctName(of peer: PeerID) -> String? {
        knownName(of: peer).flatMap { $0 == peer.shortText ? nil : $0 }
    }

    /// Who was refused, where, why, and what to do.
    func text(_ refused: RefusedNode) -> String {
        let name = name(of: refused.peer)
        let node = name == refused.peer.shortText ? name : "\(name) (\(refused.peer.shortText))"
        return
            "node \(node) at \(text(refused.endpoint)) on \(self.name(of: refused.endpoint.link)) "
            + explanation(of: refused)
    }

    private func explanation(of refused: RefusedNode) -> String {
        switch refused.cause {
        case .otherNetwork:
            "is of another network: if it belongs to this one, give both the same `network`"
        case .otherSecret: "has another secret: put the same secret on both nodes"
        case .noSecret: "proves no secret (`trust: any`): give it the secret of this network"
        case .encryption where options.configuration.preference == .none:
            "requires encryption, and here it is `encryption: none`: write optional on one of them"
        case .encryption:
            "has `encryption: none`, and here encryption is required: write optional on one of them"
        case .version: "speaks no wire version of ours: update the older of the two"
        case .notListed:
            "is \(refused.peer), which `trust: pinned` does not list: add it if it belongs here"
        case .role:
            "calls itself a collector or viewer, and its certificate does not name that role"
        case .expired: "has a certificate that is not valid today: have it signed anew"
        }
    }

    /// Names, each with the neighbour on the way; beyond a few only how many.
    fileprivate func list(_ nodes: [KnownNode], _ via: String) -> String {
        let named = nodes.prefix(Limits.namesPerLine).map { node in
            guard let hop = node.nextHop, hop != node.peer else { return name(of: node.peer) }
            return "\(name(of: node.peer)) (\(via) \(name(of: hop)))"
        }
        let rest = nodes.count - named.count
        return named.joined(separator: ", ") + (rest > 0 ? " and \(rest) others" : "")
    }
}

extension PeerID {
    /// The first two groups: enough to tell a network's nodes apart.
    package var shortText: String { String(description.prefix(11)) }
}

extension Limits {
    /// Nodes named in a line of the log.
    static let namesPerLine = 8
}
