import Foundation

/// The list that `MCBrowserViewController` shows: who is nearby, how each stands, which one is
/// chosen. Knows nothing of terminals.
struct PeerList {
    enum Standing: Equatable {
        case found, invited, connecting, connected, declined
    }

    struct Row {
        var peer: MCPeerID
        var standing: Standing
        /// Whether it is nearby now: a connected member that is not stays in the list.
        var isNearby: Bool
    }

    /// What the program is to do.
    enum Action: Equatable {
        case invite(MCPeerID), finish, cancel, answer(Bool)
    }

    let title: String
    /// Oneself included.
    let minimumNumberOfPeers: Int
    let maximumNumberOfPeers: Int
    private(set) var rows: [Row] = []
    private(set) var chosen = 0
    /// Of an invitation that came meanwhile: asked before anything else.
    var question: String?

    init(title: String, minimumNumberOfPeers: Int, maximumNumberOfPeers: Int) {
        self.title = title
        self.minimumNumberOfPeers = minimumNumberOfPeers
        self.maximumNumberOfPeers = maximumNumberOfPeers
    }

    var connectedCount: Int { rows.count { $0.standing == .connected } }

    var canFinish: Bool { connectedCount + 1 >= minimumNumberOfPeers }

    /// Those invited count, as they may accept.
    var canInvite: Bool {
        rows.count { $0.standing != .found && $0.standing != .declined } + 1 < maximumNumberOfPeers
    }

    mutating func find(_ peer: MCPeerID) {
        if let index = index(of: peer) {
            rows[index].isNearby = true
        } else {
            rows.append(Row(peer: peer, standing: .found, isNearby: true))
        }
    }

    mutating func lose(_ peer: MCPeerID) {
        guard let index = index(of: peer) else { return }
        rows[index].isNearby = false
        removeIfGone(at: index)
    }

    mutating func change(_ peer: MCPeerID, to state: MCSessionState) {
        guard let index = index(of: peer) else {
            guard state != .notConnected else { return }
            rows.append(
                Row(
                    peer: peer, standing: state == .connected ? .connected : .connecting,
                    isNearby: false))
            return
        }
        switch (state, rows[index].standing) {
        case (.connected, _): rows[index].standing = .connected
        case (.connecting, _): rows[index].standing = .connecting
        case (.notConnected, .connected), (.notConnected, .found): rows[index].standing = .found
        case (.notConnected, _): rows[index].standing = .declined
        }
        removeIfGone(at: index)
    }

    mutating func handle(_ key: KeyPress) -> Action? {
        if question != nil { return answer(key) }
        switch key {
        case .up: chosen = max(chosen - 1, 0)
        case .down: chosen = min(chosen + 1, max(rows.count - 1, 0))
        case .enter: return invite()
        case .character("d") where canFinish: return .finish
        case .character("c"), .character("q"), .escape, .interrupt: return .cancel
        default: break
        }
        return nil
    }

    private mutating func answer(_ key: KeyPress) -> Action? {
        switch key {
        case .character("y"): return .answer(true)
        case .character("n"), .escape: return .answer(false)
        case .interrupt: return .cancel
        default: return nil
        }
    }

    private mutating func invite() -> Action? {
        guard rows.indices.contains(chosen), canInvite else { return nil }
        guard [.found, .declined].contains(rows[chosen].standing) else { return nil }
        rows[chosen].standing = .invited
        return .invite(rows[chosen].peer)
    }

    private mutating func removeIfGone(at index: Int) {
        let row = rows[index]
        guard !row.isNearby, row.standing == .found || row.standing == .declined else { return }
        rows.remove(at: index)
        if chosen > index || chosen == rows.count { chosen = max(chosen - 1, 0) }
    }

    private func index(of peer: MCPeerID) -> Int? { rows.firstIndex { $0.peer == peer } }
}
