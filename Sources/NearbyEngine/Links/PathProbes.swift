import NearbyCore
import NearbyWire

/// Questions whether a peer answers at an address, over the channel that it has with us: the one
/// place that knows which of them wait for their answers (RFC 9000 §8.2).
struct PathProbes: Sendable {
    private struct Probe {
        var token: UInt64
        var endpoint: Endpoint
        var sentAt: Instant
    }

    /// Oldest first; at most one an address and `Limits.candidatesPerPeer` in all.
    private var pending: [Probe] = []

    /// Whether it was asked there less than 200 ms ago.
    func wasJustChallenged(at endpoint: Endpoint, now: Instant) -> Bool {
        pending.contains {
            $0.endpoint == endpoint && now - $0.sentAt < Limits.challengeInterval
        }
    }

    /// The question to send there. The oldest of too many is forgotten.
    mutating func challenge(at endpoint: Endpoint, token: UInt64, now: Instant) -> PathFrame {
        pending.removeAll { $0.endpoint == endpoint }
        if pending.count >= Limits.candidatesPerPeer { pending.removeFirst() }
        pending.append(Probe(token: token, endpoint: endpoint, sentAt: now))
        return PathFrame(isResponse: false, token: token)
    }

    /// Where the question with this token was asked; each is answered once.
    mutating func answered(_ token: UInt64) -> Endpoint? {
        guard let index = pending.firstIndex(where: { $0.token == token }) else { return nil }
        return pending.remove(at: index).endpoint
    }
}

extension Limits {
    /// Between two challenges at one address, at least.
    static let challengeInterval = Duration.milliseconds(200)
}
