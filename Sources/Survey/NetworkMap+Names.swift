import Collector
import Configuration
import NearbyCore
import NodeShell

/// Names of nodes: how people write them, and how they are shown.
extension NetworkMap {
    /// The node that is meant: by its name, by its PeerID, or by how that begins (two groups at
    /// least). A PeerID that is not known here is taken as it is. Of several with one name those
    /// that are out of reach are not meant, if one is in reach.
    public func peer(named text: String) throws(SurveyError) -> PeerID {
        let found = matches(text)
        if found.count > 1 {
            throw .ambiguous(
                Self.printable(text), found.map { "\($0.peer)  \(reach(of: $0))" })
        }
        guard let member = found.first else {
            if let peer = PeerID(text: text) { return peer }
            throw .unknown(Self.printable(text), advice: advice(for: text))
        }
        guard member.peer != own.peer else { throw .own(label(of: own.peer)) }
        return member.peer
    }

    private func matches(_ text: String) -> [MappedNode] {
        let everybody = [own] + members
        if let peer = PeerID(text: text) { return everybody.filter { $0.peer == peer } }
        let named = everybody.filter { $0.name == text }
        let inReach = named.filter { $0.isOnline || $0.peer == own.peer }
        if !named.isEmpty { return inReach.isEmpty ? named : inReach }
        let begin = text.lowercased()
        guard begin.utf8.count >= 11 else { return [] }
        return everybody.filter { $0.peer.description.hasPrefix(begin) }
    }

    private func advice(for text: String) -> String {
        let names = Set(members.map(\.name).filter { !$0.isEmpty }).sorted()
        guard !names.isEmpty else { return "`rivulet status` lists those that are" }
        let near = Suggestion.text(for: text, among: names.map(Self.printable))
        return near.hasPrefix("did you mean")
            ? near : "`rivulet status` lists those that are, also without a name, by their PeerIDs"
    }

    /// In a few words, for a person.
    public func reach(of member: MappedNode) -> String {
        if member.peer == own.peer { return "this node" }
        guard member.isOnline else {
            return "out of reach for " + AgeText.text(.seconds(member.ageSeconds))
        }
        guard let via = member.via, via != member.peer else { return "neighbour" }
        return "via \(label(of: via))"
    }

    /// Its name, or how its PeerID begins, fit for a terminal; with both where another node has
    /// the same name.
    public func label(of peer: PeerID) -> String {
        let name = Self.printable(self[peer]?.name ?? "")
        guard !name.isEmpty else { return peer.shortText }
        let isAlone = ([own] + members).count { Self.printable($0.name) == name } == 1
        return isAlone ? name : "\(name) (\(peer.shortText))"
    }

    /// Name and how the PeerID begins.
    public func fullLabel(of peer: PeerID) -> String {
        let label = label(of: peer)
        return label.hasSuffix(peer.shortText) || label.hasSuffix("\(peer.shortText))")
            ? label : "\(label) (\(peer.shortText))"
    }

    static func printable(_ text: String) -> String {
        PrintableText(PlainText.resemblesSecret(text) ? "(a secret, not shown)" : text).text
    }
}
