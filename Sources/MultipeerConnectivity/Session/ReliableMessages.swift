import Foundation
import Nearby
import NearbyCore

/// Reliable messages that wait for room, a queue for each peer: a slow one delays no other.
final class ReliableMessages: Sendable {
    private struct Queue {
        var messages = Deque<[UInt8]>()
        /// With what keeping each takes.
        var byteCount = 0
    }

    /// What may wait for one peer.
    private let queuedBytesMax: Int
    /// Peers for which something waits; each has a task that sends it.
    private let queues = Guarded<[Peer: Queue]>([:])

    init(queuedBytesMax: Int = 64 << 20) { self.queuedBytesMax = queuedBytesMax }

    /// Hands the message over, or queues it, for all peers or for none; each is named once.
    func send(_ message: [UInt8], to peers: [Peer], in session: Session) throws {
        // One that can never leave would take those with it that wait behind it.
        guard message.count <= Session.messageBytesMax else {
            throw MCError(
                .invalidParameter,
                "A message has at most \(Session.messageBytesMax) bytes, this one has "
                    + "\(message.count): use a stream or a resource.")
        }
        let connected = Set(session.connectedPeers)
        if let stranger = peers.first(where: { !connected.contains($0) }) {
            throw MCError(.notConnected, "\(stranger.displayName) is not connected.")
        }
        try handOver(message, to: peers, in: session)
    }

    /// The same to peers that were members a moment ago. What is for one that has left since is
    /// lost with it, as what is underway to it: the others get theirs.
    func handOver(_ message: [UInt8], to peers: [Peer], in session: Session) throws {
        // Under the lock, so that messages of several threads do not overtake each other.
        let newQueues = try queues.with { queues in
            for peer in peers { try checkRoom(for: message, to: peer, in: queues) }
            return peers.filter { Self.add(message, for: $0, to: &queues, in: session) }
        }
        for peer in newQueues {
            Task { await drain(peer, in: session) }
        }
    }

    private func checkRoom(
        for message: [UInt8], to peer: Peer, in queues: [Peer: Queue]
    ) throws {
        let waiting = queues[peer]?.byteCount ?? 0
        guard waiting == 0 || waiting + Self.cost(message) <= queuedBytesMax else {
            throw MCError(
                .unavailable, "\(waiting) bytes wait for \(peer.displayName): send more slowly.")
        }
    }

    /// At once where nothing waits and it can be, otherwise into the queue: whoever drains that
    /// finds out why it could not. Whether a queue was begun, which is to be drained.
    private static func add(
        _ message: [UInt8], for peer: Peer, to queues: inout [Peer: Queue], in session: Session
    ) -> Bool {
        let isNew = queues[peer] == nil
        if isNew, (try? session.sendNow(message, to: [peer], mode: .reliable)) != nil {
            return false
        }
        queues[peer, default: Queue()].messages.append(message)
        queues[peer]?.byteCount += cost(message)
        return isNew
    }

    /// Sends what waits for a peer, each when there is room. A peer that is lost takes its queue
    /// with it: the delegate is told that it is not connected. The next queue has its own task.
    private func drain(_ peer: Peer, in session: Session) async {
        while let message = first(of: peer) {
            do {
                try await session.send(message, to: [peer], mode: .reliable)
                removeFirst(of: peer)
            } catch {
                return queues.with { $0[peer] = nil }
            }
        }
    }

    /// Nil, and the queue gone, when nothing waits.
    private func first(of peer: Peer) -> [UInt8]? {
        queues.with { queues in
            guard let message = queues[peer]?.messages.first else {
                queues[peer] = nil
                return nil
            }
            return message
        }
    }

    private func removeFirst(of peer: Peer) {
        queues.with { queues in
            guard let message = queues[peer]?.messages.popFirst() else { return }
            queues[peer]?.byteCount -= Self.cost(message)
        }
    }

    private static func cost(_ message: [UInt8]) -> Int { message.count + 128 }
}
