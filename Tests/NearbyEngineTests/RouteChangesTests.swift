import NearbyCore
import Testing

@testable import NearbyEngine

struct RouteChangesTests {
    private let peers = (0..<200).map { RoutingNetwork.peer($0) }

    private func order(_ changes: RouteChanges, after place: UInt64 = 0) -> [PeerID] {
        var order: [PeerID] = []
        var position = changes.position(after: place)
        while let change = changes.next(from: &position, upTo: changes.last) {
            #expect(changes.position(after: change.place) == position)
            order.append(change.id)
        }
        return order
    }

    @Test func eachStandsAtItsLastChange() {
        var changes = RouteChanges()
        for number in [0, 1, 2, 0, 3, 1] { changes.append(peers[number]) }
        #expect(order(changes) == [2, 0, 3, 1].map { peers[$0] })
        #expect(order(changes, after: 4) == [3, 1].map { peers[$0] })
        for (place, end) in [(0, 2), (6, 6)] as [(UInt64, UInt64)] {
            var position = changes.position(after: place)
            #expect(changes.next(from: &position, upTo: end) == nil)
        }
    }

    @Test func theListStaysShortWhateverChanges() {
        var changes = RouteChanges()
        for round in 0..<10_000 {
            changes.append(peers[round % 7])
            if changes.wantsCompaction { changes.compact { _ in true } }
            #expect(changes.entryCount <= 64)
        }
        #expect(order(changes).count == 7)
        #expect(order(changes).last == peers[9_999 % 7])
    }

    @Test func whatIsKeptByNobodyGoes() {
        var changes = RouteChanges()
        for peer in peers { changes.append(peer) }
        #expect(changes.wantsCompaction)
        let kept = Set(peers.suffix(3))
        changes.compact { kept.contains($0) }
        #expect(order(changes) == peers.suffix(3))
        #expect(!changes.wantsCompaction)
    }
}

struct RoutingTurnsTests {
    private let peers = (0..<1_000).map { RoutingNetwork.peer($0) }

    private func take(_ turns: inout RoutingTurns, at milliseconds: Int) -> [PeerID] {
        var taken: [PeerID] = []
        while let peer = turns.next(now: .zero + .milliseconds(milliseconds)) {
            taken.append(peer)
            turns.spend()
        }
        return taken
    }

    @Test func aBurstAndThenOneEachMillisecond() {
        var turns = RoutingTurns()
        turns.giveAll(peers, changesUpTo: 1)
        var taken = take(&turns, at: 0)
        #expect(taken == peers.prefix(250).map { $0 })
        #expect(turns.nextDeadline(changesUpTo: 1) == .zero + .milliseconds(1))
        for time in 1...750 {
            let now = take(&turns, at: time)
            #expect(now.count == 1)
            taken += now
        }
        #expect(taken == peers)
        #expect(turns.nextDeadline(changesUpTo: 1) == .distantFuture)
    }

    /// What changes while some wait is told them when it is their turn, and the others after that.
    @Test func nobodyIsPassedOverAndNobodyComesTwice() {
        var turns = RoutingTurns()
        turns.giveAll(peers, changesUpTo: 1)
        #expect(take(&turns, at: 0).count == 250)
        turns.giveAll(peers, changesUpTo: 2)
        turns.append(peers[900])
        turns.append(peers[3])
        var rest: [PeerID] = []
        for time in [1_000, 2_000, 4_000, 4_100] { rest += take(&turns, at: time) }
        #expect(rest == Array(peers[250...]) + [peers[3]])
        #expect(turns.nextDeadline(changesUpTo: 2) != .distantFuture)
        turns.giveAll(peers, changesUpTo: 2)
        #expect(take(&turns, at: 5_000).count == 250)
    }

    /// Who has nothing to be told costs nothing.
    @Test func onlyWhatLeavesIsSpent() {
        var turns = RoutingTurns()
        turns.giveAll(peers, changesUpTo: 1)
        var count = 0
        while turns.next(now: .zero) != nil { count += 1 }
        #expect(count == 1_000)
    }
}
