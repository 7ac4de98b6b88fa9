import Fleet
import NearbyCore
import NearbyEngine
import NodeShell

/// Who reaches whom, as the node here sees it. Owns the survey that finds out what its routes do
/// not tell.
final class MeshWatch {
    private unowned let runner: NodeRunner
    /// Nil where nobody would see what it finds.
    private var survey: MeshSurvey?
    private var nextRecord: Instant?

    init(_ runner: NodeRunner, isSurveyed: Bool) {
        self.runner = runner
        survey = isSurveyed ? MeshSurvey(seed: systemRandom()) : nil
    }

    /// As far as they are surveyed.
    var links: [FleetLink] { survey?.links ?? MeshSurvey.links(of: view) }

    /// Call this once a second.
    func tick(_ now: Instant) {
        carryOut(survey?.handle(.network(view), now: now), now)
        if let survey, survey.nextDeadline ?? .distantFuture <= now {
            carryOut(self.survey?.handle(.deadlineReached, now: now), now)
        }
    }

    func note(_ event: Node.Event, _ now: Instant) {
        guard case .echo(let answer, let sender, let hops, _) = event else { return }
        carryOut(
            survey?.handle(
                .answered(
                    token: answer.token, from: sender, hops: hops, link: answer.link?.word ?? "",
                    lossPercent: answer.lossPercent.map(Double.init)),
                now: now), now)
    }

    /// The links, if they are to be recorded now. Not before the first survey had time: what it
    /// does not know yet is no change.
    func linksToRecord(_ now: Instant) -> [FleetLink]? {
        guard survey != nil else { return nil }
        let due = nextRecord ?? now + Self.recordInterval
        nextRecord = due
        guard due <= now else { return nil }
        nextRecord = now + Self.recordInterval
        return links
    }

    private static let recordInterval = Duration.seconds(10)

    private func carryOut(_ outputs: [MeshSurvey.Output]?, _ now: Instant) {
        for case .ask(let token, let peer, let limit) in outputs ?? [] {
            runner.handle(.echo(token: token, to: peer, hopLimit: limit), at: now)
        }
    }

    private var view: MeshView {
        let node = runner.node
        var view = MeshView()
        view.own = node.ownPeer
        view.neighbours = node.neighbourStatus.map {
            MeshView.MeshNeighbour(
                peer: $0.peer, link: $0.linkClass.word, cost: UInt32($0.cost),
                lossPercent: Double($0.lossPercent))
        }
        for route in node.routes {
            view.costs[route.destination] = UInt32(route.metric)
            view.ways[route.destination] = route.nextHop
        }
        return view
    }
}
