import NearbyCore
import NearbyWire
import Testing

@testable import NearbyEngine

/// What neighbours announce of others is not proved: no lie lasts longer than the liar.
struct RoutingLieTests {
    private let collector = RoutingNetwork.peer(1)
    private let relay = RoutingNetwork.peer(2)
    private let liar = RoutingNetwork.peer(3)
    private var machine = RoutingMachine(
        own: RoutingNetwork.peer(0), kind: .node, firstSeqno: 1_000)
    private var now = Instant.zero
    /// Nearly the whole circle.
    private let lap: UInt32 = 0xffff_fff0

    init() {
        for neighbour in [relay, liar] {
            _ = machine.handle(.neighbourUp(neighbour, cost: 96), now: now)
        }
    }

    private mutating func hear(
        _ items: [RoutingMessage.Item], from peer: PeerID
    ) -> [RoutingMachine.Output] {
        machine.handle(
            .received(RoutingMessage(number: 0, acknowledged: 0, items: items), from: peer),
            now: now)
    }

    private mutating func update(
        _ destination: PeerID, _ seqno: UInt32, _ metric: UInt16, from peer: PeerID
    ) -> [RoutingMachine.Output] {
        hear(
            [
                .update(
                    .init(
                        destination: destination, seqno: seqno, metric: metric, kind: .collector))
            ], from: peer)
    }

    private var hop: PeerID? { machine.nextHop(to: collector.short) }

    /// Our own seqno, as neighbours are told.
    private mutating func ownSeqno() -> UInt32? {
        let newcomer = RoutingNetwork.peer(40)
        let outputs = machine.handle(.neighbourUp(newcomer, cost: 96), now: now)
        _ = machine.handle(.neighbourDown(newcomer), now: now)
        for case .send(let message, newcomer) in outputs {
            for case .update(let update) in message.items
            where update.destination == RoutingNetwork.peer(0) {
                return update.seqno
            }
        }
        return nil
    }

    /// Its ghosts move nearer and farther all the time.
    @Test mutating func changesWithoutEndAreToldOfRarely() {
        let listener = RoutingNetwork.peer(4)
        _ = machine.handle(.neighbourUp(listener, cost: 96), now: now)
        var number: UInt32 = 0
        var told: [Int] = Array(repeating: 0, count: 20)
        for step in 0..<20 * 200 {
            now = .zero + .milliseconds(5) * step
            // All 380 in 50 ms: 7,600 changes a second.
            let items = (0..<38).map { index in
                RoutingMessage.Item.update(
                    .init(
                        destination: RoutingNetwork.peer(1_000 + step % 10 * 38 + index), seqno: 5,
                        metric: step / 10 % 2 == 0 ? 96 : 500, kind: .node))
            }
            for case .send(let message, listener) in hear(items, from: liar) {
                told[step / 200] += message.items.count
                number = message.number == 0 ? number : message.number
            }
            let answer = RoutingMessage(number: 0, acknowledged: number, items: [])
            for case .send(let message, listener) in machine.handle(
                .received(answer, from: listener), now: now)
            {
                told[step / 200] += message.items.count
                number = message.number == 0 ? number : message.number
            }
        }
        let later = told.suffix(10)
        #expect(later.allSatisfy { $0 <= 1_000 })
        #expect(later.allSatisfy { $0 > 0 })
    }

    /// Each of its messages has a number that only a neighbour which lost us would use.
    @Test mutating func whoResyncsWithEachMessageGetsOneFullUpdate() {
        let known = (100..<300).map { number in
            RoutingMessage.Item.update(
                .init(
                    destination: RoutingNetwork.peer(number), seqno: 5, metric: 96, kind: .node))
        }
        for start in stride(from: 0, to: known.count, by: 38) {
            _ = hear(Array(known[start..<min(start + 38, known.count)]), from: relay)
        }
        let newcomer = RoutingNetwork.peer(5)
        var told = 0
        var acknowledged: UInt32 = 0
        for case .send(let first, newcomer) in machine.handle(
            .neighbourUp(newcomer, cost: 96), now: now)
        {
            acknowledged = first.number
        }
        for number in 1...64 as ClosedRange<UInt32> {
            let message = RoutingMessage(
                number: number * 1_000, acknowledged: acknowledged, items: [])
            let outputs = machine.handle(.received(message, from: newcomer), now: now)
            for case .send(let answer, newcomer) in outputs {
                told += answer.items.count
                if answer.number != 0 { acknowledged = answer.number }
            }
        }
        #expect(told > 0)
        #expect(told <= 2 * 202)
        // Later it may.
        now = now + Limits.fullUpdateInterval
        let again = RoutingMessage(number: 90_000, acknowledged: acknowledged, items: [])
        let outputs = machine.handle(.received(again, from: newcomer), now: now)
        #expect(outputs.contains { if case .send(_, newcomer) = $0 { true } else { false } })
    }

    @Test mutating func seqnosGoRoundTheCircle() {
        _ = update(collector, .max - 1, 0, from: relay)
        _ = update(collector, 1, 96, from: relay)
        #expect(machine.routes.first?.seqno == 1)
        #expect(update(collector, .max, 0, from: liar).contains(.drop(.routingInfeasible)))
        #expect(hop == relay)
    }

    @Test(arguments: [1 << 17, 1 << 30, 1 << 31 - 1] as [UInt32])
    mutating func aLeapIsNotBelievedWhereAWayIsFeasible(_ step: UInt32) {
        _ = update(collector, 5, 96, from: relay)
        #expect(update(collector, 5 &+ step, 0, from: liar).contains(.drop(.routingSeqnoLeap)))
        #expect(hop == relay)
    }

    @Test mutating func aLeapIsBelievedWhereNothingElseIsOnceInAPause() {
        _ = update(collector, 5, 96, from: liar)
        _ = update(collector, 1 << 20, 96, from: liar)
        #expect(hop == liar)
        _ = update(collector, 1 << 30, 96, from: liar)
        #expect(hop == nil)
        now = now + Limits.leapInterval
        _ = machine.handle(.deadlineReached, now: now)
        #expect(hop == liar)
    }

    @Test mutating func afterALieTheTrueWayIsAskedForAndTaken() {
        _ = update(collector, 5, 96, from: relay)
        _ = update(collector, 5 + 1 << 16, 0, from: liar)
        #expect(hop == liar)
        let outputs = machine.handle(.neighbourDown(liar), now: now) + settle()
        let wanted = RoutingMessage.Item.request(
            destination: collector, seqno: 6 + 1 << 16, hopLimit: Limits.requestHopLimit)
        #expect(
            outputs.contains {
                if case .send(let message, relay) = $0 {
                    message.items.contains(wanted)
                } else {
                    false
                }
            })
        _ = update(collector, 6 + 1 << 16, 96, from: relay)
        #expect(hop == relay)
    }

    @Test(arguments: [1, 1 << 30, 1 << 31, 1 << 31 + 1, .max] as [UInt32])
    mutating func aDestinationGoesToAnySeqnoThatIsWantedOfIt(_ step: UInt32) {
        let wanted = 1_000 &+ step
        let own = RoutingNetwork.peer(0)
        _ = hear([.request(destination: own, seqno: wanted, hopLimit: 1)], from: relay)
        // What lies behind us was reached long ago.
        #expect(ownSeqno() == (step > 1 << 31 ? 1_000 : wanted))
    }

    @Test mutating func aDestinationThatHearsOfASeqnoBeyondItsOwnGoesThere() {
        _ = update(RoutingNetwork.peer(0), lap / 4 + 1_000, 0, from: liar)
        #expect(ownSeqno() == lap / 4 + 1_000)
    }

    /// Each raise is told to everybody.
    @Test mutating func whoAsksAgainAndAgainWaits() {
        let own = RoutingNetwork.peer(0)
        for wanted in 1_001..<1_050 as Range<UInt32> {
            _ = hear([.request(destination: own, seqno: wanted, hopLimit: 1)], from: liar)
        }
        #expect(ownSeqno() == 1_001)
        now = now + Limits.raiseInterval
        _ = machine.handle(.deadlineReached, now: now)
        #expect(ownSeqno() == 1_049)
    }

    @Test mutating func ourOwnSeqnoLeapsOnceInAPause() {
        _ = hear([.known(seqno: lap / 4)], from: liar)
        _ = hear([.known(seqno: lap / 2)], from: liar)
        #expect(ownSeqno() == lap / 4 + 1)
        now = now + Limits.leapInterval
        _ = hear([.known(seqno: lap / 2)], from: liar)
        #expect(ownSeqno() == lap / 2 + 1)
    }

    @Test mutating func aNeighboursOwnWordCountsAboveWhatOthersSay() {
        _ = machine.handle(.neighbourUp(collector, cost: 96), now: now)
        _ = update(collector, 5, 0, from: collector)
        let outputs = update(collector, 6, 0, from: liar)
        #expect(hop == collector)
        // It is told, so that it can go there.
        let told = RoutingMessage.Item.request(destination: collector, seqno: 6, hopLimit: 1)
        #expect((outputs + settle()).contains(told, to: collector))
    }

    @Test mutating func aNeighboursOwnWordCorrectsWhatWasBelieved() {
        _ = update(collector, 1 << 30, 0, from: liar)
        _ = machine.handle(.neighbourUp(collector, cost: 96), now: now)
        _ = update(collector, 5, 0, from: collector)
        #expect(hop == collector)
        #expect(machine.routes.first?.seqno == 5)
    }

    @Test mutating func aFeasibilityDistanceIsForgottenWhereNothingMeetsIt() {
        _ = update(collector, 5, 0, from: liar)
        _ = machine.handle(.neighbourDown(liar), now: now)
        _ = update(collector, 5, 300, from: relay)
        #expect(hop == nil)
        settle()
        now = now + Limits.feasibilityHold
        _ = machine.handle(.deadlineReached, now: now)
        #expect(hop == relay)
    }

    /// One that still believes in a way through us could be the way that we would take.
    @Test mutating func aFeasibilityDistanceIsKeptUntilAllHaveConfirmed() {
        _ = update(collector, 5, 0, from: liar)
        _ = machine.handle(.neighbourDown(liar), now: now)
        _ = update(collector, 5, 300, from: relay)
        now = now + Limits.feasibilityHold * 10
        _ = machine.handle(.deadlineReached, now: now)
        #expect(hop == nil)
    }

    @Test mutating func oneNeighbourCannotFillTheTable() {
        var refusals: Set<DropReason> = []
        for number in 0..<1_500 {
            for case .drop(let reason) in update(
                RoutingNetwork.peer(100 + number), 1, 0, from: liar)
            {
                refusals.insert(reason)
            }
        }
        #expect(refusals == [.routingShareFull])
        _ = update(collector, 5, 96, from: relay)
        #expect(hop == relay)
    }

    @Test mutating func aNeighbourFindsAPlaceInAFullTable() {
        for number in 0..<1_500 {
            _ = update(
                RoutingNetwork.peer(100 + number), 1, 0, from: number % 2 == 0 ? liar : relay)
        }
        // All of them call themselves collectors.
        #expect(machine.destinationCount == Limits.routesMax + Limits.urgentShareMax)
        #expect(update(collector, 5, 96, from: relay).contains(.drop(.routingTableFull)))
        _ = machine.handle(.neighbourUp(collector, cost: 96), now: now)
        _ = update(collector, 5, 0, from: collector)
        #expect(hop == collector)
    }

    /// Updates are deltas: who refused one asks for it.
    @Test mutating func whatFoundNoRoomIsAskedForWhenThereIsSome() {
        let other = RoutingNetwork.peer(4)
        _ = machine.handle(.neighbourUp(other, cost: 96), now: now)
        for number in 0..<1_500 {
            _ = update(
                RoutingNetwork.peer(100 + number), 1, 0, from: number % 2 == 0 ? liar : other)
        }
        _ = update(collector, 5, 96, from: relay)
        settle()
        _ = machine.handle(.neighbourDown(liar), now: now)
        let outputs = settle()
        let wanted = RoutingMessage.Item.request(destination: .wildcard, seqno: 0, hopLimit: 1)
        #expect(outputs.contains(wanted, to: relay))
    }

    @Test mutating func whoIsAskedForEverythingTellsEverything() {
        _ = update(collector, 5, 96, from: relay)
        settle()
        _ = hear([.request(destination: .wildcard, seqno: 0, hopLimit: 1)], from: liar)
        let told = RoutingMessage.Item.update(
            .init(destination: collector, seqno: 5, metric: 192, kind: .collector))
        #expect(settle().contains(told, to: liar))
        _ = hear([.request(destination: .wildcard, seqno: 0, hopLimit: 1)], from: relay)
        #expect(!settle().contains(told, to: relay))
    }

    /// Both count as newer than the other: the bound is that of the way in use, or every choice
    /// would be a leap, and none be made for a second.
    @Test mutating func aSeqnoHalfTheCircleAwayBecomesTheBound() {
        _ = update(collector, 5, 96, from: relay)
        _ = machine.handle(.neighbourUp(collector, cost: 96), now: now)
        _ = update(collector, 5 + 1 << 31, 0, from: collector)
        _ = update(collector, 5 + 1 << 31, 96, from: relay)
        #expect(hop == collector)
        _ = machine.handle(.neighbourDown(collector), now: now)
        _ = update(collector, 5 + 1 << 31, 0, from: liar)
        #expect(hop == liar)
        _ = machine.handle(.costChanged(liar, 97), now: now)
        #expect(hop == liar)
    }

    @Test mutating func aShortIDThatIsTakenBlocksNobody() {
        let squatter = PeerID(high: collector.high, low: 77)
        _ = update(squatter, 1, 0, from: liar)
        _ = update(collector, 5, 96, from: relay)
        #expect(machine.routes.map(\.destination) == [squatter])
        _ = machine.handle(.neighbourUp(collector, cost: 500), now: now)
        _ = update(collector, 5, 0, from: collector)
        _ = update(collector, 5, .max, from: relay)
        #expect(hop == collector)
        _ = machine.handle(.neighbourDown(collector), now: now)
        _ = update(collector, 6, 96, from: relay)
        _ = machine.handle(.neighbourDown(liar), now: now)
        #expect(hop == relay)
    }

    /// Acknowledges everything until nothing is under way; what was sent meanwhile.
    @discardableResult
    private mutating func settle() -> [RoutingMachine.Output] {
        var sent: [RoutingMachine.Output] = []
        for _ in 0..<3 {
            now = now + Limits.routingResendMax
            var outputs = machine.handle(.deadlineReached, now: now)
            while !outputs.isEmpty {
                sent += outputs
                var next: [RoutingMachine.Output] = []
                for case .send(let message, let peer) in outputs where message.number != 0 {
                    let answer = RoutingMessage(
                        number: 0, acknowledged: message.number, items: [])
                    next += machine.handle(.received(answer, from: peer), now: now)
                }
                outputs = next
            }
        }
        return sent
    }
}

extension [RoutingMachine.Output] {
    fileprivate func contains(_ item: RoutingMessage.Item, to peer: PeerID) -> Bool {
        contains {
            if case .send(let message, peer) = $0 { message.items.contains(item) } else { false }
        }
    }
}
