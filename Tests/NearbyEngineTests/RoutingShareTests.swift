import NearbyCore
import NearbyEngine
import NearbyWire
import Testing

/// A node one of whose neighbours has told of as many destinations as it may.
struct RoutingShareTests {
    private static let first = RoutingNetwork.peer(1)
    private static let second = RoutingNetwork.peer(2)

    private struct Scene {
        var machine = RoutingMachine(own: RoutingNetwork.peer(0), kind: .node)
        var now = Instant.zero + .seconds(1)
        private var numbers: [PeerID: UInt32] = [:]

        init() {
            for peer in [first, second] {
                _ = machine.handle(.neighbourUp(peer, cost: 96), now: now)
            }
            for number in 10..<10 + Limits.routingShareMax {
                _ = tell(of: RoutingNetwork.peer(number), by: first, metric: 96)
            }
        }

        mutating func tell(
            of id: PeerID, by peer: PeerID, kind: DestinationKind = .node, metric: UInt16
        ) -> [RoutingMachine.Output] {
            numbers[peer, default: 4] += 1
            let update = RoutingMessage.RouteUpdate(
                destination: id, seqno: 7, metric: metric, kind: kind)
            let message = RoutingMessage(
                number: numbers[peer] ?? 0, acknowledged: 0, items: [.update(update)])
            return machine.handle(.received(message, from: peer), now: now)
        }

        /// What is asked of a neighbour in the next second, each message acknowledged.
        mutating func requests(to peer: PeerID) -> [PeerID] {
            var asked: [PeerID] = []
            let end = now + .seconds(1)
            var outputs = machine.handle(.deadlineReached, now: now)
            while true {
                for case .send(let message, let addressee) in outputs where message.number != 0 {
                    for case .request(let id, _, _) in message.items where addressee == peer {
                        asked.append(id)
                    }
                    let answer = RoutingMessage(number: 0, acknowledged: message.number, items: [])
                    outputs += machine.handle(.received(answer, from: addressee), now: now)
                }
                guard let deadline = machine.nextDeadline, deadline <= end else { return asked }
                now = max(now, deadline)
                outputs = machine.handle(.deadlineReached, now: now)
            }
        }
    }

    @Test(arguments: [DestinationKind.collector, .viewer])
    func whatReadingsNeedFindsRoom(_ kind: DestinationKind) {
        var scene = Scene()
        let late = RoutingNetwork.peer(5_000)
        #expect(
            scene.tell(of: late, by: Self.first, metric: 96).contains(.drop(.routingShareFull)))
        let outputs = scene.tell(of: late, by: Self.first, kind: kind, metric: 96)
        #expect(!outputs.contains(.drop(.routingShareFull)))
        #expect(scene.machine.nextHop(to: late.short) == Self.first)
        for number in 5_001..<5_000 + Limits.urgentShareMax {
            _ = scene.tell(of: RoutingNetwork.peer(number), by: Self.first, kind: kind, metric: 96)
        }
        let one = RoutingNetwork.peer(6_000)
        #expect(
            scene.tell(of: one, by: Self.first, kind: kind, metric: 96)
                .contains(.drop(.routingShareFull)), "a liar may invent collectors too")
        #expect(
            scene.machine.destinationCount == Limits.routingShareMax + Limits.urgentShareMax)
    }

    /// The way over the second may be long.
    @Test func whoWasRefusedIsAskedWhenAnotherTellsOfIt() {
        var scene = Scene()
        let late = RoutingNetwork.peer(5_000)
        _ = scene.tell(of: late, by: Self.first, metric: 96)
        #expect(scene.machine.nextHop(to: late.short) == nil)
        _ = scene.tell(of: late, by: Self.second, metric: 2_000)
        #expect(scene.machine.nextHop(to: late.short) == Self.second)
        #expect(scene.requests(to: Self.first) == [late])
        _ = scene.tell(of: late, by: Self.first, metric: 96)
        #expect(scene.machine.nextHop(to: late.short) == Self.first)
    }
}
