import NearbyCore
import NearbyWire
import Testing

@testable import NearbyEngine

/// Who is in reach, who was, and when that is worth telling.
struct NodeBookTests {
    private let relay = PeerID(high: 1, low: 0)
    private let far = PeerID(high: 2, low: 0)
    private let farther = PeerID(high: 3, low: 0)

    private func seconds(_ count: Int64) -> Instant { Instant.zero + .seconds(count) }

    @Test func nodesTwoHopsAwayVanishTogetherAfterTenSeconds() {
        var book = NodeBook()
        for peer in [far, farther] {
            #expect(book.routeChanged(peer, nextHop: relay, .node, now: .zero) == [])
        }
        for peer in [farther, far] {
            #expect(book.routeChanged(peer, nextHop: nil, .node, now: seconds(5)) == [])
        }
        #expect(book.nextDeadline == seconds(15))
        #expect(book.deadlineReached(now: seconds(14)) == [])
        #expect(book.deadlineReached(now: seconds(15)) == [.vanished([far, farther])])
        #expect(book.nextDeadline == nil)
        #expect(book[far]?.isReachable == false)
        #expect(book[far]?.lastReachable == seconds(5))
        #expect(book[far]?.nextHop == relay)
        #expect(
            book.routeChanged(far, nextHop: relay, .node, now: seconds(20)) == [.returned(far)])
        #expect(book[far]?.isReachable == true)
    }

    @Test func aWayThatIsFoundAgainWasNeverLost() {
        var book = NodeBook()
        _ = book.routeChanged(far, nextHop: relay, .node, now: .zero)
        _ = book.routeChanged(far, nextHop: nil, .node, now: seconds(1))
        #expect(book.routeChanged(far, nextHop: farther, .node, now: seconds(2)) == [])
        #expect(book.nextDeadline == nil)
    }

    @Test func aNeighbourAndAViewerVanishWithoutAWord() {
        var book = NodeBook()
        _ = book.routeChanged(relay, nextHop: relay, .node, now: .zero)
        _ = book.routeChanged(far, nextHop: relay, .viewer, now: .zero)
        for peer in [relay, far] {
            _ = book.routeChanged(peer, nextHop: nil, book[peer]?.kind ?? .node, now: seconds(1))
        }
        #expect(book.nextDeadline == nil)
    }

    @Test func aFullBookForgetsWhoHasBeenGoneLongest() {
        var book = NodeBook()
        let count = UInt64(Limits.nodesRememberedMax)
        for number in 0..<count {
            let peer = PeerID(high: 100 + number, low: 0)
            _ = book.routeChanged(peer, nextHop: relay, .node, now: .zero)
        }
        _ = book.routeChanged(far, nextHop: relay, .node, now: seconds(1))
        #expect(book[far] == nil)
        let gone = [PeerID(high: 105, low: 0), PeerID(high: 104, low: 0)]
        for (number, peer) in gone.enumerated() {
            _ = book.routeChanged(peer, nextHop: nil, .node, now: seconds(2 + Int64(number)))
        }
        _ = book.routeChanged(far, nextHop: relay, .node, now: seconds(9))
        #expect(book[far] != nil)
        #expect(book[gone[0]] == nil)
        #expect(book[gone[1]] != nil)
        #expect(book.nodes.count == Limits.nodesRememberedMax)
    }
}
