import NearbyCore
import NearbyWire
import Testing

@testable import NearbyEngine

/// The only one that is asked for a newer seqno keeps it to itself.
struct RequestAttackTests {
    /// The link to the next hop became a bad one. Another's way is far cheaper, and not feasible
    /// until the destination has a newer seqno; the next hop does not pass that on.
    @Test(arguments: [DestinationKind.node, .collector])
    func whoSwallowsRequestsKeepsNobodyOnABadLink(_ kind: DestinationKind) {
        var machine = RoutingMachine(own: RoutingNetwork.peer(0), kind: .node)
        let (hop, other, far) = (
            RoutingNetwork.peer(1), RoutingNetwork.peer(2), RoutingNetwork.peer(100)
        )
        for (peer, metric) in [(hop, 10), (other, 120)] as [(PeerID, UInt16)] {
            _ = machine.handle(.neighbourUp(peer, cost: 96), now: .zero)
            let update = RoutingMessage.Item.update(
                .init(destination: far, seqno: 1, metric: metric, kind: kind))
            let message = RoutingMessage(number: 1, acknowledged: 0, items: [update])
            _ = machine.handle(.received(message, from: peer), now: .zero)
        }
        _ = machine.handle(.costChanged(hop, 2_000), now: .zero + .seconds(1))
        #expect(machine.routes.map(\.metric) == [2_010])
        var asked: [PeerID: Int] = [:]
        var now = Instant.zero + .seconds(1)
        while let due = machine.nextDeadline, due < .zero + .seconds(600) {
            now = max(now, due)
            for case .send(let message, let peer) in machine.handle(.deadlineReached, now: now) {
                for case .request(far, _, _) in message.items { asked[peer, default: 0] += 1 }
                let acknowledgement = RoutingMessage(
                    number: 0, acknowledged: message.number, items: [])
                _ = machine.handle(.received(acknowledgement, from: peer), now: now)
            }
        }
        #expect(kind == .node || asked[hop, default: 0] > 0)
        #expect(asked[other, default: 0] > 0, "asked \(asked.values.sorted()) times in ten minutes")
    }
}
