import NearbyCore
import NearbyWire

/// Which ICMP errors are believed: anybody can send one that looks as if a datagram of ours could
/// not be delivered, but only who sees our datagrams can quote one that was just sealed.
///
/// The first error about an address costs one challenge to whoever is there, and nothing else. Only
/// if that very challenge comes back too, within a second, is the neighbour unreachable (RFC 5927
/// §4.1 has the same for TCP).
struct ReturnedChallenges: Sendable {
    enum Verdict: Equatable {
        /// Ask there.
        case challenge
        /// The challenge came back.
        case unreachable
        case unproved
    }

    fileprivate struct Challenge {
        let endpoint: Endpoint
        /// Of the neighbour's channel: what others may have us say cannot be the challenge.
        let channel: ChannelToken
        let challengedAt: Instant
        /// Nil until it is sealed.
        var datagram: [UInt8]?
    }

    /// The last one at each address, oldest first.
    private var challenges: [Challenge] = []

    /// A datagram for a neighbour came back.
    ///
    /// - Parameters:
    ///   - quote: its first bytes, as many as the error carries.
    ///   - channel: the token of the neighbour's channel.
    mutating func returned(
        _ quote: [UInt8], of endpoint: Endpoint, on channel: ChannelToken, now: Instant
    ) -> Verdict {
        if let index = challenges.firstIndex(where: { $0.endpoint == endpoint }) {
            let age = now - challenges[index].challengedAt
            let isProof =
                age < Limits.returnedChallengeTime && challenges[index].isQuoted(by: quote)
            guard isProof || age >= Limits.challengeInterval else { return .unproved }
            challenges.remove(at: index)
            if isProof { return .unreachable }
        }
        if challenges.count >= Limits.routingNeighboursMax {
            guard now - challenges[0].challengedAt >= Limits.challengeInterval else {
                return .unproved
            }
            challenges.removeFirst()
        }
        challenges.append(Challenge(endpoint: endpoint, channel: channel, challengedAt: now))
        return .challenge
    }

    /// A sealed frame goes there, past all queues. The first on the neighbour's channel after the
    /// verdict `challenge` is the challenge, if it follows at once.
    mutating func sent(
        _ datagram: [UInt8], on channel: ChannelToken, to endpoint: Endpoint, now: Instant
    ) {
        let index = challenges.firstIndex {
            $0.endpoint == endpoint && $0.channel == channel && $0.datagram == nil
                && now - $0.challengedAt < Limits.challengeInterval
        }
        if let index { challenges[index].datagram = datagram }
    }
}

extension ReturnedChallenges.Challenge {
    /// Whether whole, or as much of it as has bytes enough that nobody can guess. What a router
    /// cuts to the eight bytes of RFC 792 proves nothing.
    fileprivate func isQuoted(by quote: [UInt8]) -> Bool {
        guard let datagram else { return false }
        return quote.count >= min(datagram.count, Limits.quotedBytesMin)
            && datagram.starts(with: quote.prefix(datagram.count))
    }
}

extension Limits {
    /// How long a challenge proves anything when it comes back.
    static let returnedChallengeTime = Duration.seconds(1)
    /// Of a sealed frame: its header, and as many bytes of what is sealed as a tag has.
    static let quotedBytesMin = SealedHeader.byteCount + frameTagByteCount
}
