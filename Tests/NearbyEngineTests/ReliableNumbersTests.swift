import NearbyCore
import NearbyWire
import Testing

@testable import NearbyEngine

struct ReliableNumbersTests {
    /// The peer remembers what it was given; that we forgot it must not cost a message.
    @Test func whoIsForgottenAmongManyIsStillNumberedAboveAllItHad() throws {
        let peers = Peers()
        let first = RoutingNetwork.peer(0)
        var atPeer = ReliableNumbers(after: 0)
        atPeer.connected(to: RunID(value: 1))
        peers.add(Association.fresh(with: first, as: .agent))
        for text in 1...5 as ClosedRange<UInt8> {
            #expect(try atPeer.delivered(peers.number([text], for: first)).get() == [text])
        }
        _ = peers.remove(first)
        for number in 1...Limits.channelsMax + 1 {
            let other = RoutingNetwork.peer(number)
            peers.add(Association.fresh(with: other, as: .agent))
            _ = peers.number([1], for: other)
            _ = peers.remove(other)
        }
        peers.add(Association.fresh(with: first, as: .agent))
        #expect(try atPeer.delivered(peers.number([6], for: first)).get() == [6])
    }
}
