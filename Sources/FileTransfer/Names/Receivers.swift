import Configuration
import Nearby

/// Who is there, and which of them is meant.
struct Receivers: Sendable {
    enum Choice: Equatable, Sendable {
        case one(Peer)
        /// In the order of their PeerIDs.
        case several([Peer])
        /// One of that name is there and does not receive files.
        case other(Peer)
        case nobody
    }

    private struct Entry {
        let peer: Peer
        /// Nil: not known, because relays are between us.
        let receives: Bool?
    }

    private var entries: [PeerID: Entry] = [:]

    /// - Parameter info: what it advertises.
    mutating func found(_ peer: Peer, info: [String: String]) {
        guard entries[peer.id] != nil || entries.count < Self.countMax else { return }
        entries[peer.id] = Entry(peer: peer, receives: info[FileService.key] != nil)
    }

    mutating func found(behindRelays peers: [Peer]) {
        for (id, entry) in entries where entry.receives == nil { entries[id] = nil }
        for peer in peers where entries[peer.id] == nil && entries.count < Self.countMax {
            entries[peer.id] = Entry(peer: peer, receives: nil)
        }
    }

    mutating func lost(_ peer: Peer) { entries[peer.id] = nil }

    /// - Parameter target: a name or a PeerID. Those within reach come first.
    func choice(for target: String) -> Choice {
        let id = PeerID(text: target)
        let meant = entries.values.filter { $0.peer.id == id || $0.peer.displayName == target }
            .sorted { $0.peer.id < $1.peer.id }
        for nearness in [true, nil] {
            let candidates = meant.filter { $0.receives == nearness }.map(\.peer)
            if let exact = candidates.first(where: { $0.id == id }) { return .one(exact) }
            if let only = candidates.first {
                return candidates.count == 1 ? .one(only) : .several(candidates)
            }
        }
        return meant.first.map { .other($0.peer) } ?? .nobody
    }

    /// What to say where nobody of that name is there.
    func advice(for target: String) -> String {
        let names = Set(entries.values.filter { $0.receives != false }.map(\.peer.displayName))
        guard !names.isEmpty else {
            return "run `rivulet receive` there, with the same network or --service"
        }
        return Suggestion.text(
            for: target, among: names.sorted().prefix(20).map(ReadableText.shown))
    }

    private static let countMax = 4_096
}
