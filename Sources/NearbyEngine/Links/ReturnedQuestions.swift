import NearbyCore
import NearbyWire

/// Which ICMP errors are believed: anybody can send one that looks as if a datagram of ours could
/// not be delivered, but only who sees our datagrams can quote one that was just sealed.
///
/// The first error about an address costs one question to whoever is there, and nothing else. Only
/// if that very question comes back too, within a second, nobody is there (RFC 5927 §4.1 has the
/// same for TCP).
struct ReturnedQuestions: Sendable {
    enum Verdict: Equatable {
        /// Ask there.
        case ask
        /// The question came back.
        case nobodyThere
        case unproved
    }

    fileprivate struct Question {
        let endpoint: Endpoint
        /// Of the neighbour's channel: what others may have us say cannot be the question.
        let channel: ChannelToken
        let askedAt: Instant
        /// Nil until it is sealed.
        var datagram: [UInt8]?
    }

    /// The last one at each address, oldest first.
    private var questions: [Question] = []

    /// A datagram for a neighbour came back.
    ///
    /// - Parameters:
    ///   - quote: its first bytes, as many as the error carries.
    ///   - channel: the token of the neighbour's channel.
    mutating func returned(
        _ quote: [UInt8], of endpoint: Endpoint, on channel: ChannelToken, now: Instant
    ) -> Verdict {
        if let index = questions.firstIndex(where: { $0.endpoint == endpoint }) {
            let age = now - questions[index].askedAt
            let isProof = age < Limits.returnedQuestionTime && questions[index].isQuoted(by: quote)
            guard isProof || age >= Limits.challengeInterval else { return .unproved }
            questions.remove(at: index)
            if isProof { return .nobodyThere }
        }
        if questions.count >= Limits.routingNeighboursMax {
            guard now - questions[0].askedAt >= Limits.challengeInterval else { return .unproved }
            questions.removeFirst()
        }
        questions.append(Question(endpoint: endpoint, channel: channel, askedAt: now))
        return .ask
    }

    /// A sealed frame goes there, past all queues. The first on the neighbour's channel after `ask`
    /// is the question, if it follows at once.
    mutating func sent(
        _ datagram: [UInt8], on channel: ChannelToken, to endpoint: Endpoint, now: Instant
    ) {
        let index = questions.firstIndex {
            $0.endpoint == endpoint && $0.channel == channel && $0.datagram == nil
                && now - $0.askedAt < Limits.challengeInterval
        }
        if let index { questions[index].datagram = datagram }
    }
}

extension ReturnedQuestions.Question {
    /// Whether whole, or as much of it as has bytes enough that nobody can guess. What a router
    /// cuts to the eight bytes of RFC 792 proves nothing.
    fileprivate func isQuoted(by quote: [UInt8]) -> Bool {
        guard let datagram else { return false }
        return quote.count >= min(datagram.count, Limits.quotedBytesMin)
            && datagram.starts(with: quote.prefix(datagram.count))
    }
}

extension ReturnedQuestions {
    /// What a node makes of an ICMP error. About a neighbour that is already suspect it is no news.
    static func take(_ quote: [UInt8], of endpoint: Endpoint, at node: Node, _ now: Instant) {
        guard let there = node.peers.answeringNeighbour(at: endpoint),
            let channel = node.peers[there.peer]?.channel
        else { return node.outbox.drop(.datagramReturned) }
        let verdict = node.outbox.returnedQuestions.returned(
            quote, of: there.endpoint, on: channel.token, now: now)
        switch verdict {
        case .ask: node.tell(.challenge(channel, at: there.endpoint), now)
        case .nobodyThere: node.tell(there, .nobodyThere, now)
        case .unproved: node.outbox.drop(.datagramReturned)
        }
    }
}

extension Limits {
    /// How long a question proves anything when it comes back.
    static let returnedQuestionTime = Duration.seconds(1)
    /// Of a sealed frame: its header, and as many bytes of what is sealed as a tag has.
    static let quotedBytesMin = SealedHeader.byteCount + frameTagByteCount
}
