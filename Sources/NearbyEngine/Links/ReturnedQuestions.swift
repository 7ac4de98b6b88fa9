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
        /// Of the neighbour's channel: what others may have us say cannot be the question.
        let channel: ChannelToken
        let askedAt: Instant
        /// Nil until it is sealed.
        var datagram: [UInt8]?
    }

    /// The last one at each address.
    private var questions: [Endpoint: Question] = [:]

    /// A datagram for a neighbour came back.
    ///
    /// - Parameters:
    ///   - quote: its first bytes, as many as the error carries.
    ///   - channel: the token of the neighbour's channel.
    mutating func returned(
        _ quote: [UInt8], of endpoint: Endpoint, on channel: ChannelToken, now: Instant
    ) -> Verdict {
        if let question = questions[endpoint] {
            let age = now - question.askedAt
            if age < Limits.returnedQuestionTime, question.isQuoted(by: quote) {
                questions[endpoint] = nil
                return .nobodyThere
            }
            if age < Limits.challengeInterval { return .unproved }
        }
        if questions.count >= Limits.routingNeighboursMax {
            questions = questions.filter { now - $0.value.askedAt < Limits.challengeInterval }
            guard questions.count < Limits.routingNeighboursMax else { return .unproved }
        }
        questions[endpoint] = Question(channel: channel, askedAt: now)
        return .ask
    }

    /// A sealed frame goes there, past all queues. The first on the neighbour's channel after `ask`
    /// is the question, if it follows at once.
    mutating func sent(
        _ datagram: [UInt8], on channel: ChannelToken, to endpoint: Endpoint, now: Instant
    ) {
        guard let question = questions[endpoint], question.datagram == nil,
            question.channel == channel, now - question.askedAt < Limits.challengeInterval
        else { return }
        questions[endpoint]?.datagram = datagram
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
