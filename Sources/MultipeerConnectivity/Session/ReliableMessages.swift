import Foundation
import Nearby

/// Reliable messages that wait for room, a queue for each peer: a slow one delays no other.
final class ReliableMessages: Sendable {
    /// What may wait for one peer.
    static let queuedBytesMax = 64 << 20

    private struct Queue {
        var messages: [[UInt8]] = []
        var byteCount = 0
    }

    /// Peers for which something waits; each has a task that sends it.
    private let queues = Guarded<[Peer: Queue]>([:])

    /// Hands the message over, or queues it, for all peers or for none.
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
        // Under the lock, so that messages of several threads do not overtake each other.
        let newQueues = try queues.with { queues in
            for peer in peers { try Self.checkRoom(for: message, to: peer, in: queues) }
            return try peers.filter { peer in
                try Self.add(message, for: peer, to: &queues, in: session)
            }
        }
        for peer in newQueues {
            Task { await drain(peer, in: session) }
        }
    }

    private static func checkRoom(
        for message: [UInt8], to peer: Peer, in queues: [Peer: Queue]
    ) throws {
        let waiting = queues[peer]?.byteCount ?? 0
        guard waiting == 0 || waiting + message.count <= queuedBytesMax else {
            throw MCError(
                .unavailable, "\(waiting) bytes wait for \(peer.displayName): send more slowly.")
        }
    }

    /// At once where nothing waits and there is room. Whether a queue was begun.
    private static func add(
        _ message: [UInt8], for peer: Peer, to queues: inout [Peer: Queue], in session: Session
    ) throws -> Bool {
        let isNew = queues[peer] == nil
        if isNew {
            do throws(NearbyError) {
                try session.sendNow(message, to: [peer], mode: .reliable)
                return false
            } catch {
                guard error.code == .unavailable else { throw error }
                queues[peer] = Queue()
            }
        }
        queues[peer]?.messages.append(message)
        queues[peer]?.byteCount += message.count
        return isNew
    }

    /// Sends what waits for a peer, each when there is room. A peer that is lost takes its queue
    /// with it: the delegate is told that it is not connected.
    private func drain(_ peer: Peer, in session: Session) async {
        while let message = first(of: peer) {
            do {
                try await session.send(message, to: [peer], mode: .reliable)
                removeFirst(of: peer)
            } catch {
                queues.with { $0[peer] = nil }
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
            guard let message = queues[peer]?.messages.first else { return }
            queues[peer]?.messages.removeFirst()
            queues[peer]?.byteCount -= message.count
        }
    }
}
