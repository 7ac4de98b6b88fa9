import NearbyCore
import NearbyWire
import Testing

@testable import NearbyEngine

/// Messages are numbered, so that each side learns when the other knows nothing any more.
struct RoutingNumbersTests {
    private let collector = RoutingNetwork.peer(1)
    private let relay = RoutingNetwork.peer(2)
    private let neighbour = RoutingNetwork.peer(3)
    private var machine = RoutingMachine(
        own: RoutingNetwork.peer(0), kind: .node, firstSeqno: 1_000)
    private var now = Instant.zero

    init() {
        for peer in [relay, neighbour] {
            _ = machine.handle(.neighbourUp(peer, cost: 96), now: .zero)
        }
    }

    private mutating func hear(
        _ number: UInt32, _ metrics: [UInt16], acknowledging acknowledged: UInt32 = 0,
        from peer: PeerID, isOvertaken: Bool = false
    ) -> [RoutingMachine.Output] {
        let items = metrics.map { metric in
            RoutingMessage.Item.update(
                .init(destination: collector, seqno: 5, metric: metric, kind: .collector))
        }
        let message = RoutingMessage(number: number, acknowledged: acknowledged, items: items)
        return machine.handle(
            .received(message, from: peer, isOvertaken: isOvertaken), now: now)
    }

    private var hop: PeerID? { machine.nextHop(to: collector.short) }

    /// Acknowledges what was sent to a neighbour, until nothing is under way.
    private mutating func acknowledge(
        _ outputs: [RoutingMachine.Output], as peer: PeerID
    ) -> [RoutingMessage.RouteUpdate] {
        var updates: [RoutingMessage.RouteUpdate] = []
        var outputs = outputs
        while case .send(let message, _)? = outputs.first(where: { $0.numbered(to: peer) }) {
            for case .update(let update) in message.items { updates.append(update) }
            outputs = hear(0, [], acknowledging: message.number, from: peer)
        }
        return updates
    }

    /// It acknowledged before it said anything, so what it acknowledged may be from a time before.
    /// It may as well know all: then a way that is lost meanwhile has to be retracted.
    @Test mutating func whoIsToldAnewIsToldOfRetractionsToo() {
        let told = acknowledge(hear(1, [96], from: relay) + dueLater(), as: neighbour)
        #expect(told.contains { $0.destination == collector && $0.metric == 192 })
        var outputs = hear(2, [.max], from: relay)
        // Under way already: this is not the message that is looked at.
        #expect(acknowledge(outputs, as: neighbour).map(\.metric) == [.max])
        _ = acknowledge(hear(3, [96], from: relay), as: neighbour)
        // The first word of the neighbour's is that it has a better way.
        outputs = hear(70, [0], from: neighbour)
        #expect(hop == neighbour)
        let anew = acknowledge(outputs, as: neighbour)
        #expect(anew.contains { $0.destination == collector && $0.metric == .max })
    }

    /// What the neighbour said before it took us up anew voids nothing that it said since.
    @Test mutating func aMessageThatWasOvertakenIsNotTheFirstOfANewTime() {
        _ = hear(70, [96], from: neighbour)
        _ = hear(5_000, [96], from: neighbour)
        #expect(hop == neighbour)
        _ = hear(300, [], from: neighbour, isOvertaken: true)
        #expect(hop == neighbour)
        // One soon after another is not taken: it is to come again.
        _ = hear(300, [], from: neighbour)
        #expect(hop == neighbour)
        now = now + Limits.fullUpdateInterval
        _ = hear(300, [], from: neighbour)
        #expect(hop == nil)
    }

    @Test mutating func aMessageThatWasOvertakenCountsIfItIsTheNext() {
        _ = hear(70, [], from: neighbour)
        _ = hear(71, [96], from: neighbour, isOvertaken: true)
        #expect(hop == neighbour)
    }

    /// A message to us as we were before does not tell what the neighbour knows of us now.
    @Test mutating func anAcknowledgementThatWasOvertakenCountsForNothing() {
        let repeated = dueLater()
        _ = acknowledge(repeated, as: relay)
        guard
            case .send(let message, _)? = repeated.first(where: { $0.numbered(to: neighbour) })
        else {
            Issue.record("nothing was repeated")
            return
        }
        _ = hear(0, [], acknowledging: message.number, from: neighbour, isOvertaken: true)
        #expect(machine.nextDeadline != nil)
        _ = hear(0, [], acknowledging: message.number, from: neighbour)
        #expect(machine.nextDeadline == nil)
    }

    /// Half of what a bad link carries may be lost: often at first, and ever more rarely, since the
    /// neighbour may be gone.
    @Test mutating func whatIsNotAcknowledgedIsRepeated() throws {
        var repeatedAt: [Int] = []
        while repeatedAt.last ?? 0 < 4_000 {
            now = try #require(machine.nextDeadline)
            let outputs = machine.handle(.deadlineReached, now: now)
            if outputs.contains(where: { $0.numbered(to: neighbour) }) {
                repeatedAt.append(Int((now - .zero) / .milliseconds(1)))
            }
        }
        #expect(
            repeatedAt == [100, 200, 300, 500, 700, 900, 1_300, 1_700, 2_100, 2_900, 3_700, 4_500])
    }

    /// What is repeated because nobody has acknowledged it.
    private mutating func dueLater() -> [RoutingMachine.Output] {
        machine.handle(.deadlineReached, now: .zero + Limits.routingResendMax)
    }
}

extension RoutingMachine.Output {
    fileprivate func numbered(to peer: PeerID) -> Bool {
        if case .send(let message, peer) = self { message.number != 0 } else { false }
    }
}
