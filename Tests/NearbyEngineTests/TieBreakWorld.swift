import NearbyCore
import NearbyWire

@testable import NearbyEngine

/// Two nodes' tie-breaks and everything under way between them: a state of the search.
struct TieBreakWorld: Hashable {
    /// What may happen next; any of the pending ones may be the next.
    enum Event: Hashable, Comparable {
        /// A beacon of the other side's run arrives at this side.
        case sighting(at: Int, run: UInt64)
        case nudge(at: Int, run: UInt64)
        /// The first frame of a handshake arrives at its server.
        case first(Int)
        /// The server has proof and accepts.
        case complete(Int)
        /// The server's acceptance arrives at the client: repeated until it does.
        case accepted(Int)
        /// The client gives the attempt up.
        case failed(Int)
        /// The other side's answer to a probe arrives at this side.
        case answered(at: Int, channel: Int)
        /// A side notices that nobody answers on a channel.
        case silence(at: Int, channel: Int)
    }

    struct Handshake: Hashable {
        var client: Int
        var attempt: UInt16
        /// The runs of both sides when it began.
        var runs: [UInt64]
    }

    private static let peers = [PeerID(high: 1, low: 1), PeerID(high: 2, low: 2)]
    private let roles: [Role]
    private(set) var nodes: [InvitationMachine]
    private(set) var pending: [Event] = []
    private var handshakes: [Handshake] = []
    private var runs: [UInt64] = [10, 20]
    private(set) var now = Instant.zero
    private(set) var faultsLeft: Int
    private(set) var idleSteps = 0

    /// `beacons`: how often each side hears the other at first; twice where they meet on two links.
    init(roles: [Role], faults: Int, beacons: Int) {
        self.roles = roles
        nodes = (0...1).map {
            InvitationMachine(own: Self.peers[$0], role: roles[$0], seed: UInt64($0))
        }
        faultsLeft = faults
        for _ in 0..<beacons { addBeacons() }
    }

    /// The channel that both sides use, if it is the same and both have it.
    var agreedChannel: ChannelToken? {
        let tokens = (0...1).map { nodes[$0].channel(with: Self.peers[1 - $0]) }
        guard let token = tokens[0], tokens[1] == token, isAlive(Int(token.value)) else {
            return nil
        }
        return token
    }

    /// For a failure: who uses what, and what is under way.
    var summary: String {
        let tokens = (0...1).map { nodes[$0].channel(with: Self.peers[1 - $0])?.value }
        return "roles \(roles), runs \(runs), channels \(tokens), handshakes \(handshakes), "
            + "pending \(pending), at \(now.nanoseconds) ns"
    }

    // MARK: Steps

    mutating func happen(_ event: Event) {
        if let index = pending.firstIndex(of: event) { pending.remove(at: index) }
        switch event {
        case .sighting(let side, let run): sight(side, run)
        case .nudge(let side, let run):
            // A nudge tells of its sender as a beacon does.
            sight(side, run)
            give(side, .nudged(Self.peers[1 - side], RunID(value: run), attempt: 0))
        case .first(let id): first(id)
        case .complete(let id): complete(id)
        case .accepted(let id):
            if isAlive(id) { admit(id, at: handshakes[id].client) }
        case .failed(let id):
            let handshake = handshakes[id]
            guard runs[handshake.client] == handshake.runs[handshake.client] else { return }
            give(handshake.client, .failed(Self.peers[1 - handshake.client], handshake.attempt))
        case .answered(let side, let channel):
            give(side, .answered(ChannelToken(value: UInt32(channel))))
        case .silence(let side, let channel):
            give(side, .channelClosed(ChannelToken(value: UInt32(channel))))
        }
    }

    /// A message is lost; what must not be lost for good is not offered.
    mutating func lose(_ event: Event) -> Bool {
        switch event {
        case .sighting, .nudge, .answered: pending.removeAll { $0 == event }
        case .first(let id), .complete(let id):
            pending.removeAll { $0 == event }
            add(.failed(id))
        case .accepted, .failed, .silence: return false
        }
        faultsLeft -= 1
        return true
    }

    /// A side restarts with nothing but its key: the other believes in its channels for a while.
    mutating func restart(_ side: Int) {
        faultsLeft -= 1
        let used = nodes[1 - side].channel(with: Self.peers[side])
        runs[side] += 1
        nodes[side] = InvitationMachine(own: Self.peers[side], role: roles[side], seed: runs[side])
        pending = pending.compactMap { event in
            switch event {
            case .sighting(let at, _), .nudge(let at, _): at == side ? nil : event
            case .first(let id), .complete(let id), .accepted(let id):
                handshakes[id].client == side ? nil : .failed(id)
            case .failed(let id): handshakes[id].client == side ? nil : event
            case .silence(let at, _), .answered(let at, _): at == side ? nil : event
            }
        }.sorted()
        if let used { add(.silence(at: 1 - side, channel: Int(used.value))) }
        addBeacons()
    }

    /// Nothing is under way: time passes to the next deadline, or to the next beacons.
    mutating func wait() {
        idleSteps += 1
        let beacons = now + .seconds(10)
        let deadline = nodes.compactMap(\.nextDeadline).min() ?? beacons
        now = min(max(deadline, now + .milliseconds(1)), beacons)
        if now == beacons { addBeacons() }
        for side in 0...1 { give(side, .deadlineReached) }
    }

    // MARK: Parts

    private mutating func sight(_ side: Int, _ run: UInt64) {
        let cost: UInt16? = roles[1 - side] == .collector ? 0 : nil
        give(
            side,
            .sighted(
                Self.peers[1 - side], run: RunID(value: run), role: roles[1 - side],
                costToCollector: cost))
    }

    private mutating func first(_ id: Int) {
        let handshake = handshakes[id]
        guard isAlive(id) else { return add(.failed(id)) }
        give(
            1 - handshake.client,
            .handshakeSeen(
                from: Self.peers[handshake.client],
                run: RunID(value: handshake.runs[handshake.client]), attempt: handshake.attempt))
        add(.complete(id))
    }

    private mutating func complete(_ id: Int) {
        guard isAlive(id) else { return add(.failed(id)) }
        admit(id, at: 1 - handshakes[id].client)
        add(.accepted(id))
    }

    private mutating func admit(_ id: Int, at side: Int) {
        give(
            side,
            .admitted(
                ChannelToken(value: UInt32(id)), peer: Self.peers[1 - side],
                run: RunID(value: handshakes[id].runs[1 - side]),
                attempt: handshakes[id].attempt, weAreClient: handshakes[id].client == side))
    }

    private mutating func give(_ side: Int, _ input: InvitationMachine.Input) {
        for output in nodes[side].handle(input, now: now) {
            switch output {
            case .invite(_, let attempt):
                handshakes.append(Handshake(client: side, attempt: attempt, runs: runs))
                add(.first(handshakes.count - 1))
            case .nudge: add(.nudge(at: 1 - side, run: runs[side]))
            case .close(let token, _):
                add(.silence(at: 1 - side, channel: Int(token.value)))
            case .probe(let token):
                let id = Int(token.value)
                if isAlive(id) { add(.answered(at: side, channel: id)) }
            case .abandon, .use, .keepForOpening, .decided, .tooMany, .wantsChanged, .drop: break
            }
        }
    }

    /// Both sides are still in the runs in which the handshake began.
    private func isAlive(_ id: Int) -> Bool { handshakes[id].runs == runs }

    private mutating func addBeacons() {
        for side in 0...1 { add(.sighting(at: side, run: runs[1 - side])) }
    }

    private mutating func add(_ event: Event) {
        pending.append(event)
        pending.sort()
    }
}
