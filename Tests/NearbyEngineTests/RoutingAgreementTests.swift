import NearbyCore
import NearbyWire
import Testing

@testable import NearbyEngine

/// Once a network is quiet, each node has of each neighbour what that believes to have told it:
/// updates are changes, so what is lost between the two is lost for good.
struct RoutingAgreementTests {
    /// Messages overtake each other and are lost; neighbours lose each other, on one side or both.
    @Test(arguments: 0..<100 as Range<UInt64>)
    func neighboursAgreeOnWhatWasTold(seed: UInt64) {
        var network = RoutingNetwork.random(seed: seed)
        network.loss = Double(seed % 4) / 10
        network.raiseAll()
        network.run(for: .milliseconds(30))
        let pairs = network.links.keys.sorted()
        for _ in 0..<60 {
            let pair = pairs[Int.random(in: 0..<pairs.count, using: &network.random)]
            let isLow = Bool.random(using: &network.random)
            let (one, other) = isLow ? (pair.low, pair.high) : (pair.high, pair.low)
            switch Int.random(in: 0..<8, using: &network.random) {
            case 0: network.cut(pair)
            case 1: network.raise(pair)
            case 2:
                network.changeCost(
                    pair, by: one, to: .random(in: 96...1_200, using: &network.random))
            default: network.forget(other, by: one, atMost: .milliseconds(60))
            }
            network.run(
                for: network.random.duration(in: .milliseconds(1)..<Duration.milliseconds(40)))
        }
        network.run(for: .seconds(5))
        network.raiseAll()
        network.run(for: .seconds(30))
        #expect(network.loops.isEmpty)
        #expect(network.disagreements == [])
    }
}

extension RoutingNetwork {
    /// Where a node holds something else of a neighbour than that has told it.
    var disagreements: [String] {
        var found: [String] = []
        for pair in links.keys.sorted() {
            for (one, other) in [(pair.low, pair.high), (pair.high, pair.low)] {
                guard let epoch = admitted[one][other], admitted[other][one] == epoch,
                    let told = machines[one].neighbours[Self.peer(other)]?.told
                else { continue }
                for number in 0..<count where number != other {
                    let id = Self.peer(number)
                    let held = machines[other].destinations[id]?.candidates[Self.peer(one)]
                    let said = told[id.short]
                    guard said?.seqno != held?.seqno || said?.metric != held?.metric else {
                        continue
                    }
                    found.append(
                        "\(one) told \(other) of \(number): \(String(describing: said)), "
                            + "which has \(String(describing: held))")
                }
            }
        }
        return found
    }
}
