import NearbyCore
import NearbyWire
import Testing

@testable import NearbyEngine

/// Who has one neighbour, as the many around a collector have.
struct RoutingLeafTests {
    private let hub = RoutingNetwork.peer(1)
    private let other = RoutingNetwork.peer(2)
    private let far = RoutingNetwork.peer(3)
    private var machine = RoutingMachine(own: RoutingNetwork.peer(0), kind: .node)
    private var number: UInt32 = 0

    /// What follows, acknowledged by all whom it is sent to.
    private mutating func handle(_ input: RoutingMachine.Input) -> [RoutingMachine.Output] {
        var outputs = machine.handle(input, now: .zero + .seconds(10))
        var index = 0
        while index < outputs.count {
            if case .send(let message, let peer) = outputs[index], message.number != 0 {
                let answer = RoutingMessage(number: 0, acknowledged: message.number, items: [])
                outputs += machine.handle(
                    .received(answer, from: peer), now: .zero + .seconds(10))
            }
            index += 1
        }
        return outputs
    }

    private mutating func hear(
        from peer: PeerID, seqno: UInt32 = 5, metric: UInt16
    ) -> [RoutingMachine.Output] {
        number += 1
        let update = RoutingMessage.RouteUpdate(
            destination: far, seqno: seqno, metric: metric, kind: .node)
        let message = RoutingMessage(number: number, acknowledged: 0, items: [.update(update)])
        return handle(.received(message, from: peer))
    }

    private mutating func join(_ peer: PeerID) { _ = handle(.neighbourUp(peer, cost: 96)) }

    private static func asks(_ outputs: [RoutingMachine.Output]) -> Bool {
        outputs.contains { output in
            guard case .send(let message, _) = output else { return false }
            return message.items.contains { if case .request = $0 { true } else { false } }
        }
    }

    @Test mutating func aWorseRouteThroughTheOnlyNeighbourIsTakenAtOnce() {
        join(hub)
        _ = hear(from: hub, metric: 96)
        let outputs = hear(from: hub, metric: 700)
        #expect(machine.nextHop(to: far.short) == hub)
        #expect(machine.routes.first { $0.destination == far }?.metric == 796)
        #expect(!Self.asks(outputs))
    }

    /// An older seqno is stale, and one that leaps may be a lie.
    @Test mutating func anOlderSeqnoIsNot() {
        join(hub)
        _ = hear(from: hub, metric: 96)
        _ = hear(from: hub, seqno: 4, metric: 50)
        #expect(machine.nextHop(to: far.short) == nil)
    }

    /// The other neighbour was told of our route, so the hub's may lead through both of us.
    @Test mutating func withTwoNeighboursANewerSeqnoIsAskedFor() {
        join(hub)
        join(other)
        _ = hear(from: hub, metric: 96)
        let outputs = hear(from: hub, metric: 700)
        #expect(machine.nextHop(to: far.short) == nil)
        #expect(Self.asks(outputs))
    }

    /// It was lost just now, and may not know that yet.
    @Test mutating func whoWasLostMayStillBelieveInUs() {
        join(hub)
        join(other)
        _ = hear(from: hub, metric: 96)
        _ = handle(.neighbourDown(other))
        _ = hear(from: hub, metric: 700)
        #expect(machine.nextHop(to: far.short) == nil)
    }
}
