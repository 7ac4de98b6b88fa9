import NearbyCore
import NearbyEngine
import NearbyWire
import Testing

struct RoutingMachineTests {
    @Test(arguments: 0..<60 as Range<UInt64>)
    func waysAreLoopFreeAlwaysAndGoodOnceItIsQuiet(seed: UInt64) {
        var network = RoutingNetwork.random(seed: seed)
        network.loss = 0.2
        network.raiseAll()
        network.run(for: .seconds(10))
        let pairs = network.links.keys.sorted()
        for _ in 0..<30 {
            let pair = pairs[Int.random(in: 0..<pairs.count, using: &network.random)]
            switch Int.random(in: 0..<12, using: &network.random) {
            case 10...:
                let isLow = Bool.random(using: &network.random)
                network.forget(isLow ? pair.high : pair.low, by: isLow ? pair.low : pair.high)
            case 0..<3: network.cut(pair)
            case 3..<6: network.raise(pair)
            case 6..<9:
                let side = Bool.random(using: &network.random) ? pair.low : pair.high
                let isSuspect = Int.random(in: 0..<4, using: &network.random) == 0
                let cost = UInt16.random(in: 96...1_200, using: &network.random)
                network.changeCost(pair, by: side, to: isSuspect ? .max : cost)
            default:
                network.restart(Int.random(in: 0..<network.count, using: &network.random))
            }
            let pause = network.random.duration(in: .milliseconds(1)..<Duration.seconds(1))
            network.run(for: pause)
        }
        for pair in pairs {
            for (side, other) in [(pair.low, pair.high), (pair.high, pair.low)]
            where network.cost(from: side, to: other) == 65_535 {
                network.changeCost(pair, by: side, to: 500)
            }
        }
        network.run(for: .seconds(5))
        network.raiseAll()
        network.run(for: .seconds(60))
        #expect(network.loops.isEmpty)
        #expect(network.now - network.lastSent > .seconds(20), "it is not quiet")
        expectGoodWays(network)
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func aNetworkThatOnlyGrewHasNearlyTheCheapestWays(seed: UInt64) {
        var network = RoutingNetwork.random(seed: seed)
        network.raiseAll()
        network.run(for: .seconds(10))
        #expect(network.loops.isEmpty)
        expectGoodWays(network)
    }

    @Test(arguments: 0..<10 as Range<UInt64>)
    func everybodyKnowsWhatADestinationIs(seed: UInt64) {
        var network = RoutingNetwork.random(seed: seed)
        network.raiseAll()
        network.run(for: .seconds(10))
        for node in 0..<network.count {
            let machine = network.machines[node]
            for (kind, number) in [(DestinationKind.collector, 0), (.viewer, 1)] {
                let known = machine.routes.filter { $0.kind == kind }.map(\.destination)
                #expect(known == (node == number ? [] : [RoutingNetwork.peer(number)]))
            }
        }
    }

    /// With the way it keeps: nothing else would tell of it.
    @Test func aNodeThatComesBackAsSomethingElseIsAnnounced() {
        let (collector, other) = (RoutingNetwork.peer(1), RoutingNetwork.peer(2))
        var machine = RoutingMachine(own: RoutingNetwork.peer(0), kind: .node)
        _ = machine.handle(.neighbourUp(other, cost: 96), now: .zero)
        func update(_ number: UInt32, _ kind: DestinationKind) -> [RoutingMachine.Output] {
            let update = RoutingMessage.RouteUpdate(
                destination: collector, seqno: number, metric: 96, kind: kind)
            return machine.handle(
                .received(
                    RoutingMessage(number: number, acknowledged: 0, items: [.update(update)]),
                    from: other), now: .zero)
        }
        func changed(_ kind: DestinationKind) -> RoutingMachine.Output {
            .routeChanged(collector, nextHop: other, metric: 192, kind: kind)
        }
        #expect(update(1, .collector).contains(changed(.collector)))
        #expect(machine.reach(via: other).leadsToCollector)
        #expect(update(2, .viewer).contains(changed(.viewer)))
        #expect(!machine.reach(via: other).leadsToCollector)
    }

    @Test func aQuietNetworkSendsNothing() {
        var network = RoutingNetwork.random(seed: 20)
        network.raiseAll()
        network.run(for: .seconds(10))
        let sent = network.sentCount
        network.run(for: .seconds(600))
        #expect(network.sentCount == sent)
    }

    @Test(arguments: 0..<10 as Range<UInt64>)
    func aRestartedNodeIsReachableAtOnce(seed: UInt64) {
        var network = RoutingNetwork.random(seed: seed)
        network.raiseAll()
        network.run(for: .seconds(10))
        for node in 0..<network.count {
            network.restart(node)
            network.run(for: .seconds(3))
            network.raiseAll()
            network.run(for: .seconds(1))
            // Whom only the restarted node joins to the rest must wait until it forwards again.
            for other in 0..<network.count where other != node {
                #expect(network.path(from: other, to: node) != nil, "\(other) to \(node)")
            }
            network.run(for: .seconds(5))
            for other in 0..<network.count where other != node {
                #expect(network.path(from: node, to: other) != nil, "\(node) to \(other)")
            }
        }
        #expect(network.loops.isEmpty)
    }

    /// The numbers of messages tell the other side; a message of the time before changes nothing.
    @Test(arguments: 0..<20 as Range<UInt64>)
    func aNeighbourForgottenByOneSideHearsAllAgain(seed: UInt64) {
        var network = RoutingNetwork(count: 4, seed: seed)
        for node in 1..<4 { network.addLink(node - 1, node, cost: 96) }
        network.loss = 0.3
        network.raiseAll()
        network.run(for: .seconds(20))
        for _ in 0..<10 {
            network.forget(2, by: 1)
            network.run(for: .seconds(Int64.random(in: 1...6, using: &network.random)))
        }
        network.run(for: .seconds(30))
        expectGoodWays(network)
        #expect(network.loops.isEmpty)
        network.cut(RoutingNetwork.Pair(2, 3))
        network.run(for: .seconds(30))
        #expect(network.machines[0].routes.count == 2)
        #expect(network.now - network.lastSent > .seconds(10), "it is not quiet")
    }

    @Test func aRestartedNodeDoesNotForwardUntilTheOldWaysThroughItAreGone() {
        var network = RoutingNetwork(count: 3, seed: 1)
        network.addLink(0, 1, cost: 96)
        network.addLink(1, 2, cost: 96)
        network.raiseAll()
        network.run(for: .seconds(1))
        #expect(network.path(from: 0, to: 2) == [0, 1, 2])
        network.restart(1)
        network.run(for: .seconds(3))
        network.raiseAll()
        network.run(for: .seconds(1))
        #expect(network.path(from: 0, to: 1) == [0, 1])
        #expect(network.path(from: 1, to: 2) == [1, 2])
        #expect(network.path(from: 0, to: 2) == nil)
        network.run(for: .seconds(3))
        #expect(network.path(from: 0, to: 2) == [0, 1, 2])
    }

    @Test func messagesOfStrangersAndInventedDestinationsAreBounded() {
        var machine = RoutingMachine(own: RoutingNetwork.peer(0), kind: .node)
        let peer = RoutingNetwork.peer(1)
        let update = RoutingMessage.RouteUpdate(
            destination: peer, seqno: 1, metric: 0, kind: .node)
        let message = RoutingMessage(number: 1, acknowledged: 0, items: [.update(update)])
        let strange = machine.handle(.received(message, from: peer), now: .zero)
        #expect(strange == [.drop(.routingMalformed)])
        _ = machine.handle(.neighbourUp(peer, cost: 96), now: .zero)
        for number in 0..<3_000 {
            var invented = update
            invented.destination = RoutingNetwork.peer(number + 10)
            _ = machine.handle(
                .received(
                    RoutingMessage(
                        number: UInt32(number + 1), acknowledged: 0, items: [.update(invented)]),
                    from: peer), now: .zero)
        }
        #expect(machine.destinationCount == Limits.routingShareMax)
    }

    /// Consistent, never better than possible, and within the hysteresis of the best offer.
    private func expectGoodWays(_ network: RoutingNetwork) {
        for destination in 0..<network.count {
            let optimal = network.distances(to: destination)
            var metrics = [Int?](repeating: nil, count: network.count)
            metrics[destination] = 0
            for node in 0..<network.count where node != destination {
                let route = network.machines[node].routes.first {
                    $0.destination == RoutingNetwork.peer(destination)
                }
                metrics[node] = route.map { Int($0.metric) }
                #expect((route == nil) == (optimal[node] == nil), "\(node) to \(destination)")
                #expect(network.path(from: node, to: destination) != nil)
            }
            for node in 0..<network.count where node != destination {
                guard let metric = metrics[node], let best = optimal[node] else { continue }
                #expect(metric >= best, "\(node) to \(destination)")
                let offers = network.links.compactMap { pair, link -> Int? in
                    guard link.isUp, pair.low == node || pair.high == node else { return nil }
                    let other = pair.low == node ? pair.high : pair.low
                    return metrics[other].map { $0 + network.cost(from: node, to: other) }
                }
                #expect(
                    metric * 4 <= (offers.min() ?? 0) * 5,
                    "\(node) to \(destination): \(metric), \(offers), optimal \(best)")
            }
        }
    }
}
