import NearbyCore
import NearbyWire
import Testing

@testable import NearbyEngine

/// What the comments at the fields of the routing tables say, after each step of a long run.
struct RoutingInvariantTests {
    @Test(arguments: 0..<20 as Range<UInt64>)
    func theTablesAgreeAfterEachStep(seed: UInt64) throws {
        var network = RoutingNetwork.random(seed: seed)
        network.loss = Double(seed % 3) / 10
        network.raiseAll()
        let pairs = network.links.keys.sorted()
        for step in 0..<300 {
            let pair = pairs[Int.random(in: 0..<pairs.count, using: &network.random)]
            switch Int.random(in: 0..<12, using: &network.random) {
            case 0: network.cut(pair)
            case 1, 2: network.raise(pair)
            case 3: network.forget(pair.high, by: pair.low)
            case 4: network.restart(Int.random(in: 0..<network.count, using: &network.random))
            case 5:
                let isSuspect = Bool.random(using: &network.random)
                let cost = UInt16.random(in: 96...1_200, using: &network.random)
                network.changeCost(pair, by: pair.low, to: isSuspect ? .max : cost)
            default: break
            }
            // Now and then so long that what nobody reaches is forgotten.
            let longest = Duration.seconds(step % 100 == 99 ? 400 : 1)
            network.run(for: network.random.duration(in: .milliseconds(1)..<longest))
            let broken = network.machines.flatMap(\.brokenInvariants)
            try #require(broken == [], "step \(step)")
        }
    }

    /// Names of one short ID come, replace each other and go.
    @Test(arguments: 1...5 as ClosedRange<UInt64>)
    func aTableKnowsEachShortIDUnderOneName(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var table = DestinationTable()
        var named: [UInt64: PeerID] = [:]
        for step in 0..<2_000 {
            let high = UInt64.random(in: 1...30, using: &generator)
            let id = PeerID(high: high, low: .random(in: 1...4, using: &generator))
            if let before = named[high] {
                #expect(table.known(as: id) == before)
                if Bool.random(using: &generator) {
                    table.rename(before, to: id)
                    named[high] = id
                } else {
                    table.remove(before)
                    named[high] = nil
                }
            } else {
                #expect(table.known(as: id) == id)
                table.add(Destination(id, kind: .node, introducer: PeerID(high: high % 3, low: 0)))
                named[high] = id
            }
            try #require(table.brokenInvariants == [], "step \(step)")
            try #require(table.ids == Set(named.values))
        }
    }
}

extension DestinationTable {
    fileprivate var brokenInvariants: [String] {
        var broken: [String] = []
        if byShortID.count != all.count { broken.append("\(byShortID.count) of \(all.count)") }
        for (id, destination) in all where destination.peer != id || byShortID[id.short] != id {
            broken.append("\(id) is \(destination.peer)")
        }
        let routed = all.values.filter { $0.selected.hop != nil }
        if hops.count != routed.count
            || routed.contains(where: { hops[$0.peer.short] != $0.selected.hop })
        {
            broken.append("hops to \(hops.keys.sorted()), not to \(routed.map(\.peer).sorted())")
        }
        let introduced = Dictionary(grouping: all.values, by: \.introducer).mapValues(\.count)
        if shares != introduced { broken.append("shares \(shares), not \(introduced)") }
        return broken
    }
}

extension RoutingMachine {
    fileprivate var brokenInvariants: [String] {
        var broken = destinations.brokenInvariants
        for destination in destinations.all.values {
            let (peer, selected) = (destination.peer, destination.selected)
            if peer.short == own.short { broken.append("\(own) leads to itself") }
            if destination.candidates.keys.contains(where: { neighbours[$0] == nil }) {
                broken.append("\(own): nobody offers \(peer)")
            }
            guard let hop = selected.hop else {
                let isInfinite = selected.metric == RoutingMessage.metricInfinite
                if !isInfinite || destination.routelessSince == nil {
                    broken.append("\(own): none to \(peer), \(destination)")
                }
                continue
            }
            guard let distance = destination.source.distance,
                destination.candidates[hop]?.peer == peer,
                selected.metric != RoutingMessage.metricInfinite,
                destination.routelessSince == nil, destination.requestAt == nil
            else {
                broken.append("\(own): \(hop) to \(peer), \(destination)")
                continue
            }
            let isWithin =
                distance.seqno == selected.seqno
                ? distance.metric <= selected.metric
                : distance.seqno.isNewer(than: selected.seqno)
            if !isWithin { broken.append("\(own): further than \(distance), \(selected)") }
        }
        return broken
    }
}
