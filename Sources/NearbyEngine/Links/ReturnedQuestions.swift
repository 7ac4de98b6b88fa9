import NearbyCore
import NearbyWire

/// Which ICMP errors are believed: anybody can send one that looks as if a datagram of ours could
/// not be delivered, but only who sees our datagrams can quote one that was just sealed.
///
/// The first error about an address costs one question to whoever is there, and nothing else. Only
/// if that very question comes back too, nobody is there (RFC 5927 §4.1 has the same for TCP).
struct ReturnedQuestions: Sendable {
    enum Verdict: Equatable {
        /// Ask there; tell `sent` what goes out.
        case ask
        /// The question came back.
        case nobodyThere
        case unproved
    }

    private struct Question {
        let endpoint: Endpoint
        let askedAt: Instant
        /// Nil until it is sealed.
        var datagram: [UInt8]?
    }

    /// Oldest first; at most one an address.
    private var questions: [Question] = []

    /// A datagram for the endpoint came back.
    ///
    /// - Parameter quote: its first bytes, as many as the error carries.
    mutating func returned(
        _ quote: [UInt8], of endpoint: Endpoint, now: Instant
    ) -> Verdict {
        let index = questions.firstIndex { $0.endpoint == endpoint }
        if let index, let datagram = questions[index].datagram, proves(quote, datagram) {
            questions.remove(at: index)
            return .nobodyThere
        }
        if let index {
            guard now - questions[index].askedAt >= Limits.challengeInterval else {
                return .unproved
            }
            questions.remove(at: index)
        }
        if questions.count >= Limits.returnedQuestionsMax { questions.removeFirst() }
        questions.append(Question(endpoint: endpoint, askedAt: now))
        return .ask
    }

    /// A sealed frame goes there, past all queues. The first after `ask` is the question.
    mutating func sent(_ datagram: [UInt8], to endpoint: Endpoint) {
        let index = questions.firstIndex { $0.endpoint == endpoint && $0.datagram == nil }
        if let index { questions[index].datagram = datagram }
    }

    /// Whole, or as much of it as an error of IPv4 may carry at least behind a header that says
    /// nothing new: sixteen bytes that nobody can guess.
    private func proves(_ quote: [UInt8], _ datagram: [UInt8]) -> Bool {
        quote.count >= min(datagram.count, Limits.quotedBytesMin)
            && datagram.starts(with: quote.prefix(datagram.count))
    }
}

extension ReturnedQuestions {
    /// What a node makes of an ICMP error. Of a neighbour that is suspect already it is no news.
    static func take(_ quote: [UInt8], of endpoint: Endpoint, at node: Node, _ now: Instant) {
        guard let there = node.peers.neighbour(at: endpoint.address),
            there.hop.cost != RoutingMessage.metricInfinite,
            let channel = node.peers[there.peer]?.channel
        else { return node.outbox.drop(.datagramReturned) }
        switch node.outbox.returnedQuestions.returned(quote, of: there.endpoint, now: now) {
        case .ask: node.tell(.challenge(channel, at: there.endpoint), now)
        case .nobodyThere: node.tell(there, .nobodyThere, now)
        case .unproved: node.outbox.drop(.datagramReturned)
        }
    }
}

extension Limits {
    /// Addresses at which it is asked at one time because of an ICMP error.
    static let returnedQuestionsMax = 64
    /// Of a sealed frame: its header, and as much of what is sealed as a tag has.
    static let quotedBytesMin = SealedHeader.byteCount + frameTagByteCount
}
