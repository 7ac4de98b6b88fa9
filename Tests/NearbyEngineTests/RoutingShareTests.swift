import NearbyCore
import NearbyWire
import Testing

@testable import NearbyEngine

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

        /// What is asked of a neighbour in that time, each message acknowledged.
        mutating func requests(
            to peer: PeerID, within time: Duration = .seconds(2)
        ) -> [PeerID] {
            var asked: [PeerID] = []
            let end = now + time
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

    /// It announces everything again: the way over the second may be long.
    @Test(arguments: [0, 10])
    func whoWasRefusedIsAskedWhenAnotherTellsOfIt(_ retractedCount: Int) {
        var scene = Scene()
        let late = RoutingNetwork.peer(5_000)
        _ = scene.tell(of: late, by: Self.first, metric: 96)
        #expect(scene.machine.nextHop(to: late.short) == nil)
        #expect(scene.requests(to: Self.first) == [])
        for number in 10..<10 + retractedCount {
            let id = RoutingNetwork.peer(number)
            _ = scene.tell(of: id, by: Self.first, metric: RoutingMessage.metricInfinite)
        }
        _ = scene.requests(to: Self.first, within: .seconds(3))
        _ = scene.tell(of: late, by: Self.second, metric: 2_000)
        #expect(scene.machine.nextHop(to: late.short) == Self.second)
        #expect(scene.requests(to: Self.first) == [.wildcard])
        _ = scene.tell(of: late, by: Self.first, metric: 96)
        #expect(scene.machine.nextHop(to: late.short) == Self.first)
        #expect(scene.requests(to: Self.first, within: .seconds(10)) == [])
    }

    /// The collector that a liar's inventions kept out is asked for when they are gone.
    @Test func aRefusedCollectorIsAskedForWhenThereIsRoom() {
        var scene = Scene()
        let invented = (6_000..<6_000 + Limits.urgentShareMax).map { RoutingNetwork.peer($0) }
        for id in invented {
            _ = scene.tell(of: id, by: Self.first, kind: .collector, metric: 96)
        }
        let real = RoutingNetwork.peer(5_000)
        let refusal = scene.tell(of: real, by: Self.first, kind: .collector, metric: 96)
        #expect(refusal.contains(.drop(.routingShareFull)))
        #expect(scene.requests(to: Self.first, within: .seconds(5)) == [])
        for id in invented {
            _ = scene.tell(
                of: id, by: Self.first, kind: .collector, metric: RoutingMessage.metricInfinite)
        }
        #expect(scene.requests(to: Self.first, within: .seconds(5)) == [.wildcard])
        _ = scene.tell(of: real, by: Self.first, kind: .collector, metric: 96)
        #expect(scene.machine.nextHop(to: real.short) == Self.first)
        #expect(scene.requests(to: Self.first, within: .seconds(5)) == [])
    }
}
