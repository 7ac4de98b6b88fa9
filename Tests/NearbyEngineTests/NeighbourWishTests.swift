import NearbyCore
import NearbyWire
import Testing

@testable import NearbyEngine

/// Whom a node wants beside the neighbours that it has, and whom it lets go.
struct NeighbourWishTests: NeighbourScene {
    private static func invitesCandidate(
        _ sighting: InvitationPair.SightedRun, with cost: UInt16, count: Int = 4
    ) -> Bool {
        var machine = connected(count, cost: cost)
        return invited(machine.handle(.sighted(candidate, sighting), now: .zero)) == [candidate]
    }

    @Test(arguments: [(241 as UInt16, false), (242, true), (1_000, true)])
    func aShortcutIsOneThatSavesAFifth(_ cost: UInt16, _ isOne: Bool) {
        #expect(Self.invitesCandidate(Self.sighting(cost: 97), with: cost) == isOne)
    }

    @Test func theLinkCountsToo() {
        #expect(Self.invitesCandidate(Self.sighting(cost: 96), with: 352))
        #expect(!Self.invitesCandidate(Self.sighting(cost: 96, linkCost: 256), with: 352))
    }

    @Test func whoHasNoRouteIsNoShortcut() {
        #expect(!Self.invitesCandidate(Self.sighting(cost: nil), with: 60_000))
    }

    @Test func anotherLinkIsWantedWhateverIsThere() {
        let beyond = Self.sighting(cost: nil, linkCost: 256, links: [Self.wifi])
        #expect(Self.invitesCandidate(beyond, with: 96))
        // It is on the link that we have neighbours on as well.
        let here = Self.sighting(cost: nil, linkCost: 96, links: [Self.wifi, Self.ethernet])
        #expect(Self.invitesCandidate(here, with: 96))
        #expect(!Self.invitesCandidate(Self.sighting(cost: nil), with: 96))
    }

    @Test func noMoreAreWantedThanAreTolerated() {
        let most = Limits.neighboursAccepted + Limits.neighboursWanted
        #expect(Self.invitesCandidate(Self.sighting(cost: 0), with: 60_000, count: most - 1))
        #expect(!Self.invitesCandidate(Self.sighting(cost: 0), with: 60_000, count: most))
    }

    /// A link that comes and goes is no reason to take other neighbours.
    @Test func aWayThatBecameDearerCountsOnlyWhenItStaysSo() throws {
        var machine = Self.connected(4, cost: 200)
        let input = InvitationMachine.Input.sighted(Self.candidate, Self.sighting(cost: 96))
        #expect(Self.invited(machine.handle(input, now: .zero)) == [])
        #expect(Self.invited(machine.handle(.costToCollector(400), now: .zero)) == [])
        #expect(Self.invited(machine.handle(input, now: .zero + .seconds(9))) == [])
        let due = try #require(machine.nextDeadline)
        #expect(due == Instant.zero + Limits.dearerWayPatience)
        #expect(Self.invited(machine.handle(.deadlineReached, now: due)) == [Self.candidate])
    }

    @Test func aWayThatCameBackWasNeverGone() {
        var machine = Self.connected(4, cost: 200)
        _ = machine.handle(.costToCollector(nil), now: .zero)
        _ = machine.handle(.costToCollector(200), now: .zero + .milliseconds(400))
        #expect(machine.nextDeadline == nil)
    }

    /// Who was full for us takes us when we have no way any more: the refusal was another matter.
    @Test func whoHasNoWayDoesNotWaitForTheEndOfRefusals() throws {
        var machine = Self.connected(4, cost: 1_000)
        let input = InvitationMachine.Input.sighted(Self.candidate, Self.sighting(cost: 96))
        let outputs = machine.handle(input, now: .zero)
        let attempt = outputs.compactMap {
            if case .invite(Self.candidate, let attempt) = $0 { attempt } else { nil }
        }
        _ = machine.handle(
            .declined(Self.candidate, try #require(attempt.first), retryAfter: Limits.fullRetry),
            now: .zero)
        #expect(Self.invited(machine.handle(input, now: .zero + .seconds(1))) == [])
        _ = machine.handle(.costToCollector(nil), now: .zero + .seconds(1))
        let due = Instant.zero + .seconds(1) + Limits.lostWayPatience
        #expect(Self.invited(machine.handle(.deadlineReached, now: due)) == [Self.candidate])
    }

    // MARK: Who goes

    private static func reaches(
        _ count: Int, others: Int = 5, leadsToCollector: Bool = true, ourWay: Int? = nil
    ) -> [NeighbourReach] {
        (0..<count).map {
            NeighbourReach(
                neighbour($0), others: others, leadsToCollector: leadsToCollector,
                isOurWay: $0 == ourWay)
        }
    }

    private static func answer(
        _ machine: inout InvitationMachine, _ request: PlaceRequest, _ reaches: [NeighbourReach]
    ) -> DecisionFrame.Verdict? {
        let outputs = machine.handle(
            .asked(ChannelToken(value: 99), by: candidate, request, reaches: reaches), now: .zero)
        for case .decided(_, let decision) in outputs { return decision.verdict }
        return nil
    }

    @Test func whoSeeksAShortcutGetsThePlaceOfOneWithItsOwnWay() {
        let request = PlaceRequest(
            link: Self.ethernet, hasRoute: true, seeksShortcut: true, neighbourCount: 5)
        var machine = Self.connected(8, cost: 96)
        #expect(Self.answer(&machine, request, Self.reaches(8, ourWay: 0)) == .accepted)
        #expect(machine.channel(with: Self.neighbour(0)) != nil)
        #expect(machine.connectedCount == 7)
    }

    /// One after the other, and not any number.
    @Test func whereAllNeedUsAFewShortcutsMoreAreTaken() {
        let request = PlaceRequest(
            link: Self.ethernet, hasRoute: true, seeksShortcut: true, neighbourCount: 5)
        let most = Limits.neighboursAccepted + Limits.neighboursWanted
        for (count, verdict) in [(8, DecisionFrame.Verdict.accepted), (most, .full)] {
            var machine = Self.connected(count, cost: 96)
            let reaches = Self.reaches(count, leadsToCollector: false)
            #expect(Self.answer(&machine, request, reaches) == verdict)
            #expect(Self.answer(&machine, request, reaches) == .full)
            #expect(machine.connectedCount == count)
        }
        var other = request
        other.seeksShortcut = false
        var machine = Self.connected(8, cost: 96)
        #expect(Self.answer(&machine, other, Self.reaches(8, leadsToCollector: false)) == .full)
    }

    @Test func ourOwnWayIsNeverGivenUpForAnother() {
        let request = PlaceRequest(
            link: Self.ethernet, hasRoute: false, seeksShortcut: false, neighbourCount: 0)
        var machine = Self.connected(8, cost: 96)
        var reaches = Self.reaches(8, others: 0, ourWay: 3)
        reaches[3].others = 100
        #expect(Self.answer(&machine, request, reaches) == .full)
    }

    @Test func whoComesOverABareLinkIsTaken() {
        var machine = Self.connected(8, cost: 96)
        _ = machine.handle(
            .sighted(Self.candidate, Self.sighting(cost: nil, links: [Self.wifi])), now: .zero)
        var request = PlaceRequest(
            link: Self.ethernet, hasRoute: true, seeksShortcut: false, neighbourCount: 5)
        let reaches = Self.reaches(8, leadsToCollector: false)
        #expect(Self.answer(&machine, request, reaches) == .full)
        request.link = Self.wifi
        #expect(Self.answer(&machine, request, reaches) == .accepted)
    }

    /// A bridge that has just started is asked before it hears who asks.
    @Test func whoWasNotHeardYetIsTakenOverABareLink() {
        var machine = Self.connected(8, cost: 96)
        let reaches = Self.reaches(8, leadsToCollector: false)
        var request = PlaceRequest(
            link: nil, hasRoute: true, seeksShortcut: false, neighbourCount: 5)
        #expect(Self.answer(&machine, request, reaches) == .full)
        request.link = Self.ethernet
        #expect(Self.answer(&machine, request, reaches) == .full)
        request.link = Self.wifi
        #expect(Self.answer(&machine, request, reaches) == .accepted)
    }

    /// Those who are never heard have one place on a link among them.
    @Test func notAllWhoAreNotHeardAreTaken() {
        var machine = Self.connected(8, cost: 96)
        let reaches = Self.reaches(8, leadsToCollector: false)
        let request = PlaceRequest(
            link: Self.wifi, hasRoute: true, seeksShortcut: false, neighbourCount: 5)
        var accepted = 0
        for number in 0..<8 {
            let now = Instant.zero + Limits.bridgePatience * number
            let (peer, token) = (PeerID(high: 300, low: UInt64(number)), ChannelToken(value: 300))
            let outputs = machine.handle(
                .asked(token, by: peer, request, reaches: reaches), now: now)
            guard case .decided(_, let decision)? = outputs.first, decision.verdict == .accepted
            else { continue }
            accepted += 1
            _ = machine.handle(
                .admitted(
                    token, peer: peer, run: RunID(value: 1), attempt: 1, weAreClient: false,
                    link: Self.wifi), now: now)
        }
        #expect(accepted == 1 && machine.connectedCount == 9)
    }

    /// Who is let go asks again at once, and would be taken and let go every two seconds.
    @Test func whoIsNotHeardAndWasLetGoIsNotTakenAgainAtOnce() throws {
        var machine = Self.connected(8, cost: 96)
        let request = PlaceRequest(
            link: Self.wifi, hasRoute: true, seeksShortcut: false, neighbourCount: 5)
        let reaches = Self.reaches(8, leadsToCollector: false)
        let first = Self.answer(&machine, request, reaches)
        #expect(first == .accepted)
        _ = machine.handle(
            .admitted(
                ChannelToken(value: 99), peer: Self.candidate, run: RunID(value: 1), attempt: 1,
                weAreClient: false), now: .zero)
        let due = try #require(machine.nextDeadline)
        let tooMany = machine.handle(.deadlineReached, now: due)
        #expect(due == Instant.zero + Limits.trimPatience && tooMany == [.tooMany])
        let spare = NeighbourReach(Self.candidate, others: 5, leadsToCollector: true)
        _ = machine.handle(.weighed(reaches + [spare]), now: due)
        #expect(machine.connectedCount == 8)
        func answer(_ now: Instant) -> DecisionFrame.Verdict? {
            let outputs = machine.handle(
                .asked(ChannelToken(value: 100), by: Self.candidate, request, reaches: reaches),
                now: now)
            for case .decided(_, let decision) in outputs { return decision.verdict }
            return nil
        }
        let again = answer(due + .milliseconds(100))
        #expect(again == .full)
        let end = due + Limits.fullRetry
        _ = machine.handle(.deadlineReached, now: end)
        let later = answer(end)
        #expect(later == .accepted)
    }

    /// Where the one collector is gone, all that lost a place would push out the next one.
    @Test func whoWasLetGoPushesOutNobody() {
        var machine = Self.connected(8, cost: 96)
        let request = PlaceRequest(
            link: Self.ethernet, hasRoute: false, seeksShortcut: false, neighbourCount: 3)
        func verdict(_ peer: PeerID, at now: Instant) -> DecisionFrame.Verdict? {
            let reaches = Self.reaches(8).filter { machine.channel(with: $0.neighbour) != nil }
            let outputs = machine.handle(
                .asked(ChannelToken(value: 99), by: peer, request, reaches: reaches), now: now)
            for case .decided(_, let decision) in outputs { return decision.verdict }
            return nil
        }
        let first = verdict(Self.candidate, at: .zero)
        #expect(first == .accepted && machine.channel(with: Self.neighbour(0)) == nil)
        _ = machine.handle(
            .admitted(
                ChannelToken(value: 99), peer: Self.candidate, run: RunID(value: 1), attempt: 1,
                weAreClient: false), now: .zero)
        let again = verdict(Self.neighbour(0), at: .zero + .seconds(1))
        #expect(again == .full)
        let end = Instant.zero + Limits.fullRetry
        _ = machine.handle(.deadlineReached, now: end)
        let later = verdict(Self.neighbour(0), at: end)
        #expect(later == .accepted)
    }

    /// It had no place for us; now it asks for one itself.
    @Test func whoDeclinedAndCallsIsInvitedAtOnce() throws {
        var machine = Self.connected(3, cost: 96)
        let outputs = machine.handle(.sighted(Self.candidate, Self.sighting(cost: 96)), now: .zero)
        let attempts = outputs.compactMap {
            if case .invite(Self.candidate, let attempt) = $0 { attempt } else { nil }
        }
        _ = machine.handle(
            .declined(Self.candidate, try #require(attempts.first), retryAfter: Limits.fullRetry),
            now: .zero)
        let soon = Instant.zero + .seconds(1)
        let nudge = InvitationMachine.Input.nudged(Self.candidate, RunID(value: 1), attempt: 1)
        let called = machine.handle(nudge, now: soon)
        #expect(Self.invited(called) == [Self.candidate])
    }

    @Test func tooManyAreTrimmedOneByOneAndCollectorsDoNotCount() throws {
        var machine = Self.connected(10, cost: 96, collectors: 1)
        let due = try #require(machine.nextDeadline)
        #expect(due == Instant.zero + Limits.trimPatience)
        #expect(machine.handle(.deadlineReached, now: due) == [.tooMany])
        let outputs = machine.handle(.weighed(Self.reaches(10, ourWay: 0)), now: due)
        #expect(outputs.contains(.close(ChannelToken(value: 1), .dropped)))
        #expect(machine.connectedCount == 9)
        // Eight and a collector are not too many.
        let later = due + Limits.trimPatience
        #expect(!machine.handle(.deadlineReached, now: later).contains(.tooMany))
    }

    @Test func whoDependsOnUsIsNotTrimmed() throws {
        var machine = Self.connected(10, cost: 96)
        let due = try #require(machine.nextDeadline)
        _ = machine.handle(.deadlineReached, now: due)
        let outputs = machine.handle(
            .weighed(Self.reaches(10, leadsToCollector: false)), now: due)
        #expect(outputs == [])
        #expect(machine.connectedCount == 10)
        // It is tried again more and more rarely.
        var times: [Int64] = []
        for _ in 0..<7 {
            let next = try #require(machine.nextDeadline)
            times.append(next.nanoseconds / 1_000_000_000)
            _ = machine.handle(.deadlineReached, now: next)
            _ = machine.handle(.weighed([]), now: next)
        }
        #expect(times == [6, 14, 30, 62, 126, 190, 254])
    }
}
