import NearbyCore
import NearbyWire
import Testing

@testable import NearbyEngine

/// Which route is used, by a destination's candidates and our neighbours' costs alone.
struct RouteSelectionTests {
    private let peer = RoutingNetwork.peer(9)
    private let one = RoutingNetwork.peer(1)
    private let two = RoutingNetwork.peer(2)
    private var costs: [PeerID: UInt16]
    private var destination: Destination

    init() {
        costs = [one: 100, two: 100]
        destination = Destination(peer, kind: .node, introducer: one)
    }

    private mutating func offer(_ seqno: UInt32, _ metric: UInt16, by neighbour: PeerID) {
        destination.candidates[neighbour] = .init(
            peer: peer, seqno: seqno, metric: metric, kind: .collector)
    }

    private func cost(_ neighbour: PeerID) -> UInt16 { costs[neighbour] ?? .max }

    private func selection(at time: Instant = .zero) -> RouteSelection? {
        destination.selection(now: time, cost: cost)
    }

    private mutating func use(at time: Instant = .zero) {
        destination.use(selection(at: time), now: time)
    }

    private var seqnoToRequest: UInt32? { destination.seqnoToRequest(cost: cost) }
    private var seqnoForCheaper: SeqnoWish? { destination.seqnoForCheaper(cost: cost) }

    @Test mutating func theCheapestIsTaken() {
        offer(1, 300, by: one)
        offer(1, 299, by: two)
        #expect(selection()?.hop == two)
        #expect(selection()?.metric == 399)
        costs[two] = 101
        // Of equals it is the lower one.
        #expect(selection()?.hop == one)
        costs[one] = .max
        #expect(selection()?.hop == two)
        costs[two] = .max
        #expect(selection() == nil)
    }

    @Test mutating func theOneInUseStaysUnlessAnotherIsCheaperByATenth() {
        offer(1, 900, by: one)
        use()
        offer(1, 801, by: two)
        #expect(selection()?.hop == one)
        offer(1, 800, by: two)
        #expect(selection()?.hop == two)
        costs[one] = .max
        offer(1, 899, by: two)
        #expect(selection()?.hop == two)
    }

    @Test mutating func whoMayBeBehindUsIsNotTakenAndANewerSeqnoAskedFor() {
        offer(1, 300, by: one)
        use()
        #expect(destination.source.distance == .init(seqno: 1, metric: 400))
        destination.candidates[one] = nil
        offer(1, 400, by: two)
        #expect(destination.feasibility(of: two, cost: cost) == .infeasible)
        #expect(selection() == nil)
        use()
        #expect(destination.isStarving)
        #expect(destination.selected.metric == .max)
        #expect(seqnoToRequest == 2)
        offer(2, 5_000, by: two)
        use()
        #expect(destination.selected.hop == two)
        #expect(destination.source.distance == .init(seqno: 2, metric: 5_100))
        #expect(seqnoToRequest == nil)
    }

    @Test mutating func aNewerSeqnoIsAskedForWhereItFreesACheaperWay() {
        offer(1, 100, by: one)
        use()
        costs[one] = 2_000
        use()
        offer(1, 200, by: two)
        use()
        #expect(destination.selected.hop == one)
        #expect(seqnoForCheaper == SeqnoWish(seqno: 2, offeredBy: two))
        #expect(seqnoToRequest == nil)
        // Not by a fifth.
        costs[two] = 1_500
        #expect(seqnoForCheaper == nil)
        // About to be renewed.
        costs[two] = 100
        offer(0, 200, by: two)
        #expect(seqnoToRequest == nil)
    }

    @Test mutating func withoutOffersOrADistanceNothingIsAskedFor() {
        use()
        #expect(!destination.isStarving)
        #expect(seqnoToRequest == nil)
        costs[one] = .max
        offer(1, 100, by: one)
        use()
        #expect(destination.isStarving)
        #expect(seqnoToRequest == nil)
    }

    /// Others have told of their ways, or have none.
    @Test mutating func whereAllWhoOfferAreSuspectNobodyIsAsked() {
        offer(1, 300, by: one)
        use()
        costs[one] = .max
        use()
        #expect(destination.isStarving)
        #expect(seqnoToRequest == nil)
        offer(1, 400, by: two)
        use()
        #expect(destination.isStarving)
        #expect(seqnoToRequest == 2)
    }

    @Test mutating func aLeapIsBelievedWhereNothingElseIsFeasibleAndOnceInAWhile() {
        offer(1, 300, by: one)
        use()
        let far = 1 + Limits.seqnoStepMax + 1
        offer(far, 100, by: two)
        #expect(destination.feasibility(of: two, cost: cost) == .leap)
        #expect(selection()?.hop == one)
        destination.candidates[one] = nil
        #expect(selection()?.isLeap == true)
        use()
        offer(far + far, 100, by: two)
        #expect(selection() == nil)
        #expect(selection(at: .zero + Limits.leapInterval)?.hop == two)
    }

    @Test mutating func whatADestinationSaysItselfIsFeasibleAndNobodyKnowsANewerSeqno() {
        offer(7, 300, by: one)
        use()
        costs[peer] = 500
        offer(5, 0, by: peer)
        #expect(destination.feasibility(of: peer, cost: cost) == .feasible)
        #expect(destination.feasibility(of: one, cost: cost) == .infeasible)
        // It does not answer: others may know better.
        costs[peer] = .max
        #expect(destination.feasibility(of: one, cost: cost) == .feasible)
    }

    @Test mutating func aSearchThatNobodyAnswersIsRepeatedEverMoreSeldom() {
        costs[one] = .max
        offer(1, 100, by: one)
        use()
        #expect(destination.requestAt == Instant.zero + Limits.requestTime)
        destination.postponeRequest(isRequested: false, now: .zero)
        #expect(destination.requestAt == Instant.zero + Limits.requestTime)
        for seconds in [2, 4, 8, 16, 32, 32] as [Int64] {
            destination.postponeRequest(isRequested: true, now: .zero)
            #expect(destination.requestAt == milliseconds(seconds * 1_000))
        }
        costs[one] = 100
        use()
        #expect(destination.requestAt == nil)
        #expect(destination.routelessSince == nil)
    }
}
