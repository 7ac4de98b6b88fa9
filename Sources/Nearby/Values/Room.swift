import NearbyCore
import NearbyGroups
import Synchronization

/// How much may wait for each peer before senders have to: what sessions of one own peer have
/// handed over and the background thread has not taken yet, and reliable messages that the peer
/// may not have.
///
/// A peer for which nothing waits always takes one message, but no reliable one while it holds them
/// back because its program is slow. Unreliable messages wait for the background thread only: the
/// node keeps none of them, and they may overtake the reliable ones that it keeps.
final class Room: Sendable {
    private struct Waiter {
        let cost: Int
        let peers: [PeerID]
        let isReliable: Bool
        let reply: Reply<Void>
    }

    private struct State {
        /// Handed over, not taken yet.
        var posted: [PeerID: Int] = [:]
        /// With the node.
        var queued: [PeerID: Int] = [:]
        /// Sessions in which a peer wants no more reliable messages for now.
        var held: [PeerID: Set<SessionNumber>] = [:]
        /// In order.
        var waiters: [Waiter] = []

        func isRoom(_ cost: Int, _ peers: [PeerID], _ isReliable: Bool) -> Bool {
            peers.allSatisfy {
                if isReliable, held[$0] != nil { return false }
                let kept = isReliable ? queued[$0, default: 0] : 0
                let waiting = posted[$0, default: 0] + kept
                return waiting == 0 || waiting + cost <= Room.bytesMax
            }
        }

        /// A waiter for whom there is room, and before whom nobody waits for the same peers.
        var firstServable: Int? {
            var awaited: Set<PeerID> = []
            return waiters.firstIndex { waiter in
                let isServable =
                    (!waiter.isReliable || awaited.isDisjoint(with: waiter.peers))
                    && isRoom(waiter.cost, waiter.peers, waiter.isReliable)
                if !isServable { awaited.formUnion(waiter.peers) }
                return isServable
            }
        }

        mutating func reserve(_ cost: Int, _ peers: [PeerID]) {
            for peer in peers { posted[peer, default: 0] += cost }
        }
    }

    private let state = Mutex(State())

    /// Reserves room for a message at once; false if there is none, or others wait for some with
    /// one of the peers. An unreliable one, which has no order, waits for nobody.
    func tryReserve(_ bytes: Int, for peers: [PeerID], isReliable: Bool = true) -> Bool {
        state.withLock { state in
            let isAwaited =
                isReliable && state.waiters.contains { $0.peers.contains(where: peers.contains) }
            guard !isAwaited, state.isRoom(Self.cost(bytes), peers, isReliable) else {
                return false
            }
            state.reserve(Self.cost(bytes), peers)
            return true
        }
    }

    /// Waits until there is room.
    func reserve(
        _ bytes: Int, for peers: [PeerID], isReliable: Bool = true
    ) async throws(NearbyError) {
        if tryReserve(bytes, for: peers, isReliable: isReliable) { return }
        let reply = Reply<Void>()
        let isTaken = state.withLock { state in
            guard state.waiters.count < Self.waitersMax else { return false }
            state.waiters.append(
                Waiter(
                    cost: Self.cost(bytes), peers: peers, isReliable: isReliable, reply: reply))
            return true
        }
        guard isTaken else {
            throw NearbyError(.unavailable, "too many tasks wait to send: await fewer at a time")
        }
        serve()
        do throws(NearbyError) {
            try await reply.value {}
        } catch {
            serve()
            throw error
        }
    }

    /// The background thread has taken the message; what of it the node keeps is told by `update`.
    func taken(_ bytes: Int, for peers: [PeerID], isReliable: Bool) {
        state.withLock { state in
            for peer in peers {
                let left = state.posted[peer, default: 0] - Self.cost(bytes)
                state.posted[peer] = left > 0 ? left : nil
                if isReliable { state.queued[peer, default: 0] += Self.cost(bytes) }
            }
        }
        serve()
    }

    /// Who waits for room.
    var waiterCount: Int { state.withLock { $0.waiters.count } }

    /// Peers for which messages are with the node.
    var queuedPeers: [PeerID] { state.withLock { Array($0.queued.keys) } }

    /// So many bytes for the peer are with the node now.
    func update(_ peer: PeerID, queued: Int) {
        let isLess = state.withLock { state in
            let before = state.queued[peer, default: 0]
            state.queued[peer] = queued > 0 ? queued : nil
            return queued < before
        }
        if isLess { serve() }
    }

    /// Whether the peer wants reliable messages of this session to wait.
    func hold(_ peer: PeerID, in session: SessionNumber, _ isHeld: Bool) {
        let isLess = state.withLock { state in
            if isHeld {
                state.held[peer, default: []].insert(session)
                return false
            }
            guard state.held[peer]?.remove(session) != nil else { return false }
            if state.held[peer]?.isEmpty == true { state.held[peer] = nil }
            return true
        }
        if isLess { serve() }
    }

    /// The session is over.
    func forget(_ session: SessionNumber) {
        for peer in state.withLock({ Array($0.held.keys) }) { hold(peer, in: session, false) }
    }

    /// The peer is gone: who waits for room there waits in vain.
    func lost(_ peer: PeerID) {
        let waiters = state.withLock { state -> [Waiter] in
            state.queued[peer] = nil
            state.held[peer] = nil
            defer { state.waiters.removeAll { $0.peers.contains(peer) } }
            return state.waiters.filter { $0.peers.contains(peer) }
        }
        for waiter in waiters {
            waiter.reply.resolve(
                .failure(NearbyError(.notConnected, "the peer is no longer connected")))
        }
        serve()
    }

    /// Lets those go on for whom there is room, in order for each peer: a slow one delays no other.
    /// A cancelled one is passed over.
    private func serve() {
        while true {
            let next = state.withLock { state -> Waiter? in
                state.waiters.removeAll { $0.reply.isResolved }
                guard let index = state.firstServable else { return nil }
                let waiter = state.waiters.remove(at: index)
                state.reserve(waiter.cost, waiter.peers)
                return waiter
            }
            guard let next else { return }
            if !next.reply.resolve(.success(())) { giveBack(next) }
        }
    }

    private func giveBack(_ waiter: Waiter) {
        state.withLock { state in
            for peer in waiter.peers {
                let left = state.posted[peer, default: 0] - waiter.cost
                state.posted[peer] = left > 0 ? left : nil
            }
        }
    }

    /// With what keeping a message takes.
    private static func cost(_ bytes: Int) -> Int { bytes + 128 }

    /// For one peer; the node itself keeps twice as much.
    static let bytesMax = 4 << 20
    private static let waitersMax = 4_096
}
