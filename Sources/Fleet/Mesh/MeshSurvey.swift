import NearbyCore

extension Limits {
    /// Between two questions of a survey.
    static let meshQuestionInterval: Duration = .seconds(1)
    /// From the begin of a survey to that of the next, at least.
    static let meshSurveyInterval: Duration = .seconds(60)
    /// How long an answer is waited for.
    static let meshPatience: Duration = .seconds(3)
    /// Places before a node that are tried: the way back may be another than the way there.
    static let meshHopsTried = 4
    /// What was found is believed for so many surveys.
    static let meshFindingSurveys = 3
}

/// Finds out who reaches whom: asks, once a second at most, who stands before each node that is no
/// neighbour.
///
/// A distance vector tells the next hop to each node and nothing of what lies behind; so the node
/// before the last one is asked for by its distance, as `rivulet topology` does. A whole network
/// takes three questions for each node behind others, and is surveyed once a minute or as often as
/// that allows.
public struct MeshSurvey: Sendable {
    public enum Input: Sendable {
        /// What the node here knows now.
        case network(MeshView)
        /// Link and loss: of the last link to whoever answers.
        case answered(
            token: UInt64, from: ShortID, hops: Int, link: String, lossPercent: Double? = nil)
        case deadlineReached
    }

    public enum Output: Hashable, Sendable {
        /// An echo is wanted of whoever is so many links away on the way to this node.
        case ask(token: UInt64, PeerID, hopLimit: UInt8)
    }

    /// What was found of a node that is no neighbour.
    struct Finding: Hashable {
        var parent: ShortID
        var hops: Int
        var link: String
        var lossPercent: Double?
        var survey: UInt64
    }

    /// What one node was asked.
    private struct Question {
        enum Step { case whole, before, itself }

        var peer: PeerID
        var step = Step.whole
        var hops = 64
        var link = ""
        var lossPercent: Double?
        var before: ShortID?
        var tries = 0
        /// 0: not asked yet.
        var token: UInt64 = 0
        /// When it is asked, or given up.
        var until: Instant
    }

    private var generator: SeededGenerator
    private var view = MeshView()
    private var findings: [PeerID: Finding] = [:]
    /// Those that this survey has still to ask of.
    private var left: ArraySlice<PeerID> = []
    private var question: Question?
    private var number: UInt64 = 0
    private var nextSurvey: Instant?
    private var nextQuestion: Instant?

    /// - Parameter seed: for tokens, which others must not guess.
    public init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    public var nextDeadline: Instant? {
        if let question { return question.until }
        return left.isEmpty ? nextSurvey : nextQuestion
    }

    /// Who reaches whom, from the collector outwards; in order.
    public var links: [FleetLink] { view.links(findings) }

    /// As far as is known without asking.
    public static func links(of view: MeshView) -> [FleetLink] { view.links([:]) }

    public mutating func handle(_ input: Input, now: Instant) -> [Output] {
        switch input {
        case .network(let view):
            self.view = view
            findings = findings.filter { view.costs[$0.key] != nil }
            if nextSurvey == nil { nextSurvey = now }
        case .answered(let token, let sender, let hops, let link, let lossPercent):
            guard question?.token == token else { return [] }
            if question?.step == .whole { question?.lossPercent = lossPercent }
            answered(sender, hops: hops, link: link)
        case .deadlineReached:
            // Silence: nothing is found of this node.
            if let question, question.token != 0, question.until <= now { self.question = nil }
        }
        return advance(now)
    }

    // MARK: Asking

    private mutating func advance(_ now: Instant) -> [Output] {
        if let question, question.token != 0 { return [] }
        if question == nil { begin(now) }
        guard var next = question else { return [] }
        if let nextQuestion, now < nextQuestion {
            question?.until = nextQuestion
            return []
        }
        next.token = generator.next() | 1
        next.until = now + Limits.meshPatience
        question = next
        nextQuestion = now + Limits.meshQuestionInterval
        return [.ask(token: next.token, next.peer, hopLimit: UInt8(clamping: next.hops))]
    }

    private mutating func begin(_ now: Instant) {
        if left.isEmpty {
            guard let due = nextSurvey, due <= now else { return }
            number += 1
            nextSurvey = now + Limits.meshSurveyInterval
            findings = findings.filter {
                number - $0.value.survey <= UInt64(Limits.meshFindingSurveys)
            }
            left = view.behind[...]
        }
        // Some may be gone meanwhile.
        left = left.drop { view.costs[$0] == nil }
        guard let peer = left.popFirst() else { return }
        question = Question(peer: peer, until: now)
    }

    /// Goes on with the question, or ends it.
    private mutating func answered(_ sender: ShortID, hops: Int, link: String) {
        guard var next = question else { return }
        next.token = 0
        switch next.step {
        case .whole:
            (next.hops, next.link, next.step) = (max(2, hops) - 1, link, .before)
        case .before where sender == next.peer.short:
            next.hops -= 1
            next.tries += 1
        case .before:
            (next.before, next.hops, next.step) = (sender, next.hops + 1, .itself)
        case .itself where sender == next.peer.short:
            if let before = next.before {
                findings[next.peer] = Finding(
                    parent: before, hops: next.hops, link: next.link,
                    lossPercent: next.lossPercent, survey: number)
            }
            question = nil
            return
        case .itself:
            next.step = .before
            next.tries += 1
        }
        let isOver = next.hops < 1 || next.tries >= Limits.meshHopsTried
        question = isOver ? nil : next
    }
}
