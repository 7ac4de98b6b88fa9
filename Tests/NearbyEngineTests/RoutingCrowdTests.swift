import NearbyCore
import NearbyWire
import Testing

@testable import NearbyEngine

/// A collector with many neighbours, which are not all looked at each time.
struct RoutingCrowdTests {
    private static let peers = (1...40).map { RoutingNetwork.peer($0) }

    /// What each was sent, by numbered message.
    private static func sent(_ outputs: [RoutingMachine.Output]) -> [PeerID: RoutingMessage] {
        var sent: [PeerID: RoutingMessage] = [:]
        for case .send(let message, let peer) in outputs { sent[peer] = message }
        return sent
    }

    private static func crowd() -> (RoutingMachine, [PeerID: RoutingMessage]) {
        var machine = RoutingMachine(own: RoutingNetwork.peer(0), kind: .collector)
        var first: [PeerID: RoutingMessage] = [:]
        for peer in peers {
            let outputs = machine.handle(.neighbourUp(peer, cost: 96), now: .zero)
            first.merge(sent(outputs)) { $1 }
        }
        return (machine, first)
    }

    private static func acknowledge(
        _ message: RoutingMessage?, by peer: PeerID, _ machine: inout RoutingMachine,
        at now: Instant
    ) -> [PeerID: RoutingMessage] {
        let answer = RoutingMessage(
            number: 0, acknowledged: message?.number ?? 0, items: [])
        return sent(machine.handle(.received(answer, from: peer), now: now))
    }

    @Test func whatIsNotAcknowledgedIsRepeatedToThoseAlone() throws {
        var (machine, first) = Self.crowd()
        #expect(Set(first.keys) == Set(Self.peers))
        let silent = Set(
            Self.peers.enumerated().filter { $0.offset.isMultiple(of: 3) }.map(\.element))
        for peer in Self.peers where !silent.contains(peer) {
            _ = Self.acknowledge(first[peer], by: peer, &machine, at: .zero + .milliseconds(1))
        }
        var repeated: Set<PeerID> = []
        while let deadline = machine.nextDeadline, deadline <= .zero + .milliseconds(150) {
            repeated.formUnion(Self.sent(machine.handle(.deadlineReached, now: deadline)).keys)
        }
        #expect(repeated == silent)
    }

    /// And whoever was waiting for an acknowledgement hears of it with the next message.
    @Test func allHearOfANewcomer() throws {
        var (machine, first) = Self.crowd()
        let newcomer = RoutingNetwork.peer(77)
        let now = Instant.zero + .milliseconds(10)
        let update = RoutingMessage.RouteUpdate(
            destination: newcomer, seqno: 1, metric: 0, kind: .node)
        _ = machine.handle(.neighbourUp(newcomer, cost: 96), now: now)
        let message = RoutingMessage(number: 5, acknowledged: 0, items: [.update(update)])
        _ = machine.handle(.received(message, from: newcomer), now: now)
        for peer in Self.peers {
            let next = Self.acknowledge(first[peer], by: peer, &machine, at: now)
            let told = next[peer]?.items.contains {
                if case .update(let update) = $0 { update.destination == newcomer } else { false }
            }
            #expect(told == true)
        }
    }

    // MARK: Many

    /// A collector whose neighbours have told of themselves and acknowledge at once.
    private struct Hall: RoutingScene {
        var machine = RoutingMachine(own: RoutingNetwork.peer(0), kind: .collector)
        var now = Instant.zero
        /// What each neighbour holds, by destination.
        var held: [PeerID: [PeerID: UInt16]] = [:]
        var messageCount = 0
        /// Acknowledges only when it is told to, and its last message waits.
        var slow: PeerID?
        private var unacknowledged: UInt32 = 0

        mutating func receives(_ message: RoutingMessage, _ peer: PeerID) -> Bool {
            messageCount += 1
            for case .update(let update) in message.items {
                held[peer, default: [:]][update.destination] = update.metric
            }
            guard peer == slow else { return true }
            unacknowledged = message.number
            return false
        }

        init() {}

        /// All have joined, and heard of all.
        init(of peers: [PeerID]) {
            for peer in peers { join(peer) }
            pass(.seconds(60))
        }

        mutating func slowAcknowledges() {
            guard let slow, unacknowledged != 0 else { return }
            let answer = RoutingMessage(number: 0, acknowledged: unacknowledged, items: [])
            unacknowledged = 0
            handle(.received(answer, from: slow))
        }

        mutating func ask(_ id: PeerID, seqno: UInt32, by peer: PeerID, number: UInt32) {
            let item = RoutingMessage.Item.request(destination: id, seqno: seqno, hopLimit: 64)
            let message = RoutingMessage(number: number, acknowledged: 0, items: [item])
            handle(.received(message, from: peer))
        }

        mutating func join(_ peer: PeerID) {
            handle(.neighbourUp(peer, cost: 96))
            let update = RoutingMessage.RouteUpdate(
                destination: peer, seqno: 1, metric: 0, kind: .node)
            handle(
                .received(
                    RoutingMessage(number: 5, acknowledged: 0, items: [.update(update)]),
                    from: peer))
        }
    }

    /// In the second after a thousand came, no more is sent than can be taken; all know all in the
    /// end; and each knows the collector at once.
    @Test func aThousandNewcomersAreNoMillionMessages() {
        let peers = (1...1_000).map { RoutingNetwork.peer($0) }
        var hall = Hall()
        for peer in peers {
            hall.join(peer)
            #expect(hall.held[peer]?[RoutingNetwork.peer(0)] == 0)
            hall.pass(.milliseconds(1))
        }
        #expect(hall.messageCount < 4_000)
        hall.pass(.seconds(60))
        #expect(peers.allSatisfy { hall.held[$0]?.count == 1_000 })
        #expect(hall.messageCount < 30_000)
    }

    /// A neighbour that is suspect for a moment is no news for the others; one that is lost is.
    @Test func whoIsSuspectForAMomentIsNotTold() {
        let peers = (1...100).map { RoutingNetwork.peer($0) }
        var hall = Hall(of: peers)
        let before = hall.messageCount
        hall.handle(.costChanged(peers[7], RoutingMessage.metricInfinite))
        hall.pass(.seconds(2))
        hall.handle(.costChanged(peers[7], 96))
        hall.pass(.seconds(60))
        #expect(hall.messageCount == before)
        hall.handle(.costChanged(peers[7], RoutingMessage.metricInfinite))
        hall.pass(.seconds(3))
        hall.handle(.neighbourDown(peers[7]))
        hall.pass(.milliseconds(150))
        #expect(hall.held[peers[8]]?[peers[7]] == RoutingMessage.metricInfinite)
        #expect(hall.messageCount == before + 99)
    }

    @Test func whatCostsChangeIsToldLaterAndTogether() {
        let peers = (1...100).map { RoutingNetwork.peer($0) }
        var hall = Hall(of: peers)
        let before = hall.messageCount
        for cost in [UInt16(130), 300, 160] {
            for peer in peers.prefix(30) { hall.handle(.costChanged(peer, cost)) }
            hall.pass(.seconds(1))
        }
        #expect(hall.messageCount == before)
        hall.pass(.seconds(10))
        #expect(hall.messageCount == before + 100)
        #expect(hall.held[peers[50]]?[peers[3]] == 160)
    }

    /// Nor does what a member invents, changes and retracts fill any table of ours.
    @Test func whatALiarInventsIsForgotten() {
        let peers = (1...40).map { RoutingNetwork.peer($0) }
        var hall = Hall(of: peers)
        var number: UInt32 = 5
        func tell(_ metric: UInt16, of ids: Range<Int>, _ hall: inout Hall) {
            for start in stride(from: ids.lowerBound, to: ids.upperBound, by: 38) {
                number += 1
                let items = (start..<min(start + 38, ids.upperBound)).map {
                    RoutingMessage.Item.update(
                        .init(
                            destination: RoutingNetwork.peer($0), seqno: 1, metric: metric,
                            kind: .node))
                }
                hall.handle(
                    .received(
                        RoutingMessage(number: number, acknowledged: 0, items: items),
                        from: peers[0]))
            }
        }
        for round in 1...20 {
            let ids = round * 1_000..<round * 1_000 + 700
            for metric in [UInt16(96), 200, 400, RoutingMessage.metricInfinite] {
                tell(metric, of: ids, &hall)
                hall.pass(.milliseconds(300))
            }
            hall.pass(.seconds(1))
            #expect(hall.machine.neighbours.changes.entryCount <= 4 * 2_064)
        }
        #expect(hall.machine.destinationCount <= RoutingMachine.destinationsMax)
    }

    /// Whom others ask for something all the time hears what changes all the same.
    @Test func requestsDoNotKeepChangesFromTheNextHop() {
        let peers = (1...40).map { RoutingNetwork.peer($0) }
        var hall = Hall(of: peers)
        hall.slow = peers[3]
        for seqno in 2...UInt32(40) {
            if seqno == 10 { hall.handle(.neighbourDown(peers[20])) }
            hall.ask(peers[3], seqno: seqno, by: peers[9], number: 4 + seqno)
            hall.pass(.milliseconds(20))
            hall.ask(peers[3], seqno: seqno + 1_000, by: peers[8], number: 4 + seqno)
            hall.slowAcknowledges()
        }
        #expect(hall.held[peers[3]]?[peers[20]] == RoutingMessage.metricInfinite)
    }

    /// However often our seqno was raised, and although the list of changes is long.
    @Test func aNewcomerHearsOfOurselvesFirst() {
        let peers = (1...200).map { RoutingNetwork.peer($0) }
        var hall = Hall(of: peers)
        hall.ask(RoutingNetwork.peer(0), seqno: 50, by: peers[9], number: 6)
        let newcomer = RoutingNetwork.peer(999)
        let sent = Self.sent(hall.machine.handle(.neighbourUp(newcomer, cost: 96), now: hall.now))
        let first = sent[newcomer]?.items.first
        guard case .update(let update)? = first else {
            Issue.record("\(String(describing: first))")
            return
        }
        #expect(update.destination == RoutingNetwork.peer(0))
    }

    @Test func nothingIsDueThatWasDueBefore() {
        var hall = Hall()
        #expect(hall.machine.nextDeadline == nil)
        hall.pass(.seconds(10))
        for number in 1...300 {
            hall.join(RoutingNetwork.peer(number))
            hall.pass(.milliseconds(number % 3))
            #expect(hall.machine.nextDeadline ?? .distantFuture > hall.now)
        }
    }

    /// Also where nothing but costs changes, and few are told.
    @Test func theListOfChangesIsBounded() {
        var machine = RoutingMachine(own: RoutingNetwork.peer(0), kind: .node)
        for peer in Self.peers.prefix(3) {
            _ = machine.handle(.neighbourUp(peer, cost: 96), now: .zero)
        }
        for number in 1...UInt32(2_000) {
            let items = (100..<130).map {
                RoutingMessage.Item.update(
                    .init(
                        destination: RoutingNetwork.peer($0), seqno: 1,
                        metric: 96 + UInt16(number % 2), kind: .node))
            }
            let message = RoutingMessage(number: number, acknowledged: 0, items: items)
            _ = machine.handle(.received(message, from: Self.peers[0]), now: .zero)
            #expect(machine.neighbours.changes.entryCount < 128)
        }
    }

    /// RFC 8966 §3.8.1.2: to the next hop alone.
    @Test func aRequestGoesToTheNextHop() {
        var hall = Hall(of: Self.peers)
        let request = RoutingMessage.Item.request(
            destination: Self.peers[3], seqno: 2, hopLimit: 64)
        let message = RoutingMessage(number: 6, acknowledged: 0, items: [request])
        let outputs = hall.machine.handle(
            .received(message, from: Self.peers[9]), now: hall.now)
        let asked = Self.sent(outputs).filter { _, message in
            message.items.contains { if case .request = $0 { true } else { false } }
        }
        #expect(Array(asked.keys) == [Self.peers[3]])
    }

    /// Of few neighbours the next hop, too; but all where it is a collector.
    @Test(arguments: [(DestinationKind.node, 1), (.collector, 2), (.viewer, 2)])
    func forAPlainNodeNobodyElseIsAsked(_ kind: DestinationKind, _ count: Int) {
        var machine = RoutingMachine(own: RoutingNetwork.peer(0), kind: .node)
        let (hop, other, asker) = (Self.peers[0], Self.peers[1], Self.peers[2])
        for peer in [hop, other, asker] {
            _ = machine.handle(.neighbourUp(peer, cost: 96), now: .zero)
        }
        let far = RoutingNetwork.peer(100)
        let update = RoutingMessage.Item.update(
            .init(destination: far, seqno: 1, metric: 96, kind: kind))
        _ = machine.handle(
            .received(.init(number: 1, acknowledged: 0, items: [update]), from: hop), now: .zero)
        let request = RoutingMessage.Item.request(destination: far, seqno: 2, hopLimit: 64)
        let message = RoutingMessage(number: 1, acknowledged: 0, items: [request])
        _ = machine.handle(.received(message, from: asker), now: .zero)
        let waiting = [hop, other, asker].filter {
            machine.neighbours[$0]?.requests[far] != nil
        }
        #expect(waiting.count == count)
        #expect(waiting.first == hop)
    }
}
