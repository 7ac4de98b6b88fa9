import NearbyCore
import NearbyEngine
import Testing

@testable import NearbySimulator

/// Planned sites, small ones: what `rivulet simulate` does with larger ones.
struct SiteRunTests {
    private func plan(_ shape: SiteShape, _ nodes: Int) -> SitePlan {
        var plan = SitePlan()
        plan.shape = shape
        plan.nodes = nodes
        return plan
    }

    @Test func aSmallRingKeepsAllThatIsPromised() {
        let run = SiteRun(plan(.ring, 8))
        let report = run.run()
        #expect(report.failures.isEmpty)
        #expect(report.missed.isEmpty, "\(report.missed.map(SiteReport.line))")
        #expect(report.facts.contains { $0.name == "death of a relay" && $0.verdict != .none })
        let far = run.simulator.hosts[0]
        #expect(run.path(from: far)?.count == 5)
    }

    @Test func aPlanThatCannotBeIsToldInWords() {
        #expect(
            plan(.random, 1).fault?.description == "--topology random takes 2 to 10000 nodes")
    }

    @Test func onePlanHasOneResult() {
        var plan = plan(.random, 14)
        plan.movingPercent = 20
        plan.sleepingPercent = 20
        let (one, other) = (SiteRun(plan), SiteRun(plan))
        let facts = one.run().facts
        #expect(facts == other.run().facts)
        #expect(one.simulator.traceHash == other.simulator.traceHash)
        #expect(facts.contains { $0.name == "woken" })
    }

    /// What no packet can reach is said, and not waited for.
    @Test func aLineThatIsTooLongHasAnEnd() {
        let run = SiteRun(plan(.line, 140))
        run.start()
        #expect(run.reachable.count == 128)
        #expect(run.report.facts.contains { $0.name == "too far" && $0.value.hasPrefix("11 ") })
    }

    /// The next hops that changed, and no others.
    @Test func changedRoutesAreTold() {
        let simulator = Simulator(seed: 1, world: .chain(4))
        simulator.boot(within: .milliseconds(10))
        simulator.run(for: .seconds(5))
        var watch = RouteWatch()
        let host = simulator.hosts[3]
        watch.stepped(host)
        #expect(watch.takeChanged() == [3])
        #expect(watch.takeMoved(host, simulator) == [0, 1, 2])
        #expect(watch.takeMoved(host, simulator).isEmpty)
        watch.stepped(host)
        #expect(watch.takeChanged() == nil)
        simulator.crash(host: 1)
        simulator.run(for: .seconds(5))
        watch.stepped(host)
        #expect(watch.takeChanged() == [3])
        // Those that are gone have no next hop: nothing to follow.
        #expect(watch.takeMoved(host, simulator).isEmpty)
        // Found again where they were before, and told all the same.
        simulator.boot(host: 1)
        simulator.run(for: .seconds(10))
        #expect(watch.takeMoved(host, simulator) == [0, 1])
    }
}
