import NearbyCore
import Testing

@testable import Fleet

/// A chain: own - a - b - c, and d on a radio behind a.
struct MeshSurveyTests {
    private let own = PeerID(high: 1, low: 0)
    private let a = PeerID(high: 2, low: 0)
    private let b = PeerID(high: 3, low: 0)
    private let c = PeerID(high: 4, low: 0)
    private let d = PeerID(high: 5, low: 0)

    private var view: MeshView {
        var view = MeshView()
        view.own = own
        view.neighbours = [
            MeshView.MeshNeighbour(peer: a, link: "ethernet", cost: 100, lossPercent: 5)
        ]
        view.costs = [a: 100, b: 250, c: 400, d: 180]
        view.ways = [a: a, b: a, c: a, d: a]
        return view
    }

    private func path(to peer: PeerID) -> [PeerID] {
        switch peer {
        case b: [a, b]
        case c: [a, b, c]
        case d: [a, d]
        default: [peer]
        }
    }

    /// Answers every question as the chain would; returns them with their times.
    private func run(
        _ survey: inout MeshSurvey, until end: Duration, isSilent: (PeerID) -> Bool = { _ in false }
    ) -> [(time: Instant, peer: PeerID, hopLimit: UInt8)] {
        var now = Instant(nanoseconds: 0)
        var asked: [(Instant, PeerID, UInt8)] = []
        var outputs = survey.handle(.network(view), now: now)
        while now < Instant(nanoseconds: 0) + end {
            for case .ask(let token, let peer, let limit) in outputs {
                asked.append((now, peer, limit))
                if isSilent(peer) { continue }
                let way = path(to: peer)
                let place = min(Int(limit), way.count)
                let answer = MeshSurvey.Input.answered(
                    token: token, from: way[place - 1].short, hops: place, link: "wifi",
                    lossPercent: Double(place))
                #expect(survey.handle(answer, now: now + .milliseconds(20)).isEmpty)
            }
            guard let next = survey.nextDeadline else { break }
            now = max(now + .milliseconds(1), next)
            outputs = survey.handle(.deadlineReached, now: now)
        }
        return asked
    }

    @Test func theTreeIsFound() {
        var survey = MeshSurvey(seed: 1)
        _ = run(&survey, until: .seconds(30))
        let links = survey.links
        #expect(links.map(\.from) == [own, a, b, a])
        #expect(links.map(\.to) == [a, b, c, d])
        #expect(links.map(\.cost) == [100, 150, 150, 80])
        #expect(links.map(\.link) == ["ethernet", "wifi", "wifi", "wifi"])
        #expect(links.map(\.isDirect) == [true, true, true, true])
        #expect(links.map(\.lossPercent) == [5, 2, 3, 2])
    }

    @Test func atMostOneQuestionASecondAndOneSurveyAMinute() {
        var survey = MeshSurvey(seed: 1)
        let asked = run(&survey, until: .seconds(180))
        for (one, next) in zip(asked, asked.dropFirst()) {
            #expect(next.time - one.time >= .seconds(1))
        }
        // Three nodes, three questions each, three minutes.
        #expect(asked.count == 27)
    }

    @Test func whoDoesNotAnswerHangsOnTheWayToIt() {
        var survey = MeshSurvey(seed: 1)
        let silent = c
        _ = run(&survey, until: .seconds(40)) { $0 == silent }
        let link = survey.links.first { $0.to == c }
        #expect(link?.from == a)
        #expect(link?.isDirect == false)
        #expect(link?.cost == 300)
    }

    @Test func answersToNothingChangeNothing() {
        var survey = MeshSurvey(seed: 1)
        _ = survey.handle(.network(view), now: Instant(nanoseconds: 0))
        let before = survey.links
        let stranger = MeshSurvey.Input.answered(
            token: 7, from: c.short, hops: 1, link: "bluetooth")
        #expect(survey.handle(stranger, now: Instant(nanoseconds: 5)).isEmpty)
        #expect(survey.links == before)
    }

    @Test func whoIsGoneIsNoLinkAnyMore() {
        var survey = MeshSurvey(seed: 1)
        _ = run(&survey, until: .seconds(30))
        var smaller = view
        smaller.costs[c] = nil
        smaller.ways[c] = nil
        _ = survey.handle(.network(smaller), now: Instant(nanoseconds: 40_000_000_000))
        #expect(survey.links.map(\.to) == [a, b, d])
    }
}
