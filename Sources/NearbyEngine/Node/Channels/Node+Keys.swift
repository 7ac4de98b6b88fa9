import NearbyCore
import NearbyWire

/// Sealing, and new keys for channels whose keys have served long enough.
extension Node {
    /// The frame sealed with the channel's keys; nil, and counted, if they may seal no more.
    @inline(never)
    mutating func seal(
        _ payload: [UInt8], on channel: Channel, _ priority: Priority, _ now: Instant
    ) -> [UInt8]? {
        guard let datagram = channel.seal?.seal(payload, priority: priority) else {
            drops.count(.sealExhausted)
            return nil
        }
        if channel.isClient, channel.seal?.isWorn(after: configuration.rekeyFrames) == true,
            let peer = channel.peer, let association = associations[peer],
            association.token == channel.token, !association.isRenewing
        {
            association.rekeyAt = min(association.rekeyAt, now)
        }
        return datagram
    }

    /// New keys by a new handshake beside the old channel; only its client begins. What got no
    /// answer within a second, then two and so on, is begun anew.
    mutating func renewKeys(_ association: Association, _ now: Instant) {
        guard let channel = channels[association.token], channel.isClient else {
            association.rekeyAt = .distantFuture
            return
        }
        association.isRenewing = true
        association.rekeyAt = now + association.rekeyRetry
        association.rekeyRetry = min(association.rekeyRetry * 2, Limits.rekeyRetryMax)
        let number = channel.attemptNumber &+ 1
        let attempts = channels.filter {
            $0.isAttempt && $0.isClient && $0.expectedPeer == association.peer
                && $0.attemptNumber == number
        }
        for attempt in attempts where !attempt.isAnswered { channels.remove(attempt) }
        guard attempts.allSatisfy({ !$0.isAnswered }) else { return }
        let path = neighbours[association.peer].map { Path.link($0.endpoint) } ?? channel.path
        beginHandshake(with: association.peer, over: path, attemptNumber: number, now)
    }
}

extension Limits {
    /// Between attempts to renew the keys of a channel; doubles to the maximum.
    static let rekeyRetry = Duration.seconds(1)
    static let rekeyRetryMax = Duration.seconds(4)
}
