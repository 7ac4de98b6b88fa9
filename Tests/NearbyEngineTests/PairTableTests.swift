import NearbyCore
import Testing

@testable import NearbyEngine

struct PairTableTests {
    /// What the table keeps up to date, computed anew from all pairs.
    private func expectConsistent(
        _ table: PairTable, _ pairs: [PeerID: InvitationPair], own: PeerID
    ) {
        let candidates = pairs.filter { $0.value.channel == nil && $0.value.isAvailable }
            .map { PairTable.Candidate(cost: $0.value.cost, peer: $0.key) }.sorted()
        #expect(table.candidates == candidates)
        let unanswered = pairs.values.count(where: \.isUnanswered)
        #expect(table.unansweredCount == unanswered)
        #expect(table.invitingCount == pairs.values.count(where: \.isInviting) - unanswered)
        #expect(table.connectedPeers == pairs.filter { $0.value.channel != nil }.keys.sorted())
        let callers = pairs.filter { peer, pair in
            pair.wantsUs && pair.sighting != nil
                && (own < peer && pair.state == .idle || pair.state == .overdue)
        }
        #expect(table.callers == callers.keys.sorted())
        #expect(table.suspected == pairs.filter(\.value.suspicion.isConfirmed).keys.sorted())
        #expect(table.refused == pairs.filter(\.value.isRefused).keys.sorted())
        expectSidesConsistent(table, pairs)
        #expect(table.nextDeadline == pairs.values.compactMap(\.nextDeadline).min())
    }

    private func expectSidesConsistent(_ table: PairTable, _ pairs: [PeerID: InvitationPair]) {
        let connected = pairs.filter { $0.value.channel != nil }
        #expect(
            table.connectedCollectorCount
                == connected.values.count { $0.sighting?.role == .collector })
        var best: Set<PeerID> = []
        let links = (1...3).map { LinkID(value: $0) }
        func onLink(_ link: LinkID) -> (InvitationPair) -> Bool {
            { $0.sighting?.links.contains(link) == true }
        }
        for link in links {
            let candidates = pairs.filter {
                $0.value.channel == nil && $0.value.isAvailable && onLink(link)($0.value)
            }.map { PairTable.Candidate(cost: $0.value.cost, peer: $0.key) }.sorted()
            let count = connected.values.count {
                onLink(link)($0) || $0.sighting == nil && $0.channel?.link == link
            }
            for (peer, pair) in pairs {
                let mayAsk = pair.sighting == nil ? !pair.isDropped : onLink(link)(pair)
                #expect(table.isBare(link, for: peer) == (count == 0 && mayAsk))
            }
            if count == 0, let first = candidates.first { best.insert(first.peer) }
            for (peer, pair) in connected where onLink(link)(pair) && count == 1 {
                #expect(table.isAloneOnLink(peer))
            }
        }
        #expect(Set(table.bestOnBareLinks) == best)
    }

    @Test func whatIsBesideThePairsFollowsFromThem() {
        let own = PeerID(high: 50, low: 0)
        var random = SeededGenerator(seed: 4)
        var table = PairTable(own: own)
        var pairs: [PeerID: InvitationPair] = [:]
        for step in 0..<4_000 {
            let peer = PeerID(high: UInt64.random(in: 1...100, using: &random), low: 0)
            if peer == own { continue }
            let pair = Bool.random(using: &random) ? randomPair(step, &random) : nil
            table[peer] = pair
            pairs[peer] = pair.flatMap { $0.isForgettable ? nil : $0 }
            #expect(table[peer] == pairs[peer])
            if step % 20 == 0 { expectConsistent(table, pairs, own: own) }
        }
        #expect(table.count == pairs.count)
    }

    private func randomPair(_ step: Int, _ random: inout SeededGenerator) -> InvitationPair {
        var pair = InvitationPair()
        let now = Instant.zero + .seconds(step)
        if Int.random(in: 0..<4, using: &random) > 0 {
            pair.sighting = .init(
                run: RunID(value: 1), role: Bool.random(using: &random) ? .agent : .collector,
                costToCollector: UInt16.random(in: 0...3, using: &random),
                links: (1...3).filter { _ in Int.random(in: 0..<8, using: &random) == 0 }
                    .map { LinkID(value: $0) })
        }
        if Bool.random(using: &random) {
            pair.channel = .init(
                token: ChannelToken(value: UInt32(step)), run: RunID(value: 1), attempt: 1,
                weAreClient: true, link: LinkID(value: UInt32.random(in: 0...3, using: &random)))
            pair.suspicion.begin(now)
            if Bool.random(using: &random) { pair.suspicion.confirm() }
        }
        let states: [InvitationPair.State] = [
            .idle, .overdue, .inviting(attempt: 1, .came), .inviting(attempt: 1, .overdue),
            .inviting(attempt: 1, .awaited(until: now)), .backingOff(until: now, after: .failure),
            .nudging(until: now, sentAt: now), .nudgeHeldBack(until: now),
        ]
        pair.state = states.randomElement(using: &random) ?? .idle
        pair.wantsUs = Bool.random(using: &random)
        return pair
    }

    @Test func aFullTableForgetsTheDearestWithWhichNothingGoesOn() {
        var table = PairTable(own: PeerID(high: 0, low: 1))
        for index in 0..<Limits.pairsMax {
            var pair = InvitationPair()
            pair.sighting = .init(
                run: RunID(value: 1), role: .agent, costToCollector: UInt16(index))
            if index == Limits.pairsMax - 1 { pair.state = .overdue }
            table[PeerID(high: UInt64(index) + 1, low: 0)] = pair
        }
        let hasRoom = table.makeRoom()
        #expect(hasRoom)
        #expect(table.count == Limits.pairsMax - 1)
        #expect(table[PeerID(high: UInt64(Limits.pairsMax) - 1, low: 0)] == nil)
    }
}
