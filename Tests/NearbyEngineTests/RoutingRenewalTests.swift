import NearbyCore
import NearbyWire
import Testing

@testable import NearbyEngine

/// A newer seqno of a plain node, which every node is told by every node, and for which nobody
/// waits who did not ask.
struct RoutingRenewalTests {
    /// Its neighbours acknowledge at once.
    private struct Scene: RoutingScene {
        var machine = RoutingMachine(own: RoutingNetwork.peer(0), kind: .node)
        var now = Instant.zero
        /// The last that each neighbour was told of each.
        var told: [PeerID: [PeerID: RoutingMessage.RouteUpdate]] = [:]
        /// Messages with changes, by neighbour.
        var messageCounts: [PeerID: Int] = [:]
        /// Of the last message of each neighbour.
        private var numbers: [PeerID: UInt32] = [:]

        /// There is a route to each of the nodes, with seqno 1. All neighbours have said something,
        /// so that nothing later is taken for a resync.
        init(neighbours: ClosedRange<Int>, to ids: [PeerID], kind: DestinationKind = .node) {
            for number in neighbours {
                handle(.neighbourUp(RoutingNetwork.peer(number), cost: 96))
                receive([], from: RoutingNetwork.peer(number))
            }
            tell(of: ids, seqno: 1, kind: kind)
            pass(.seconds(20))
            messageCounts = [:]
        }

        mutating func receives(_ message: RoutingMessage, _ peer: PeerID) -> Bool {
            for case .update(let update) in message.items {
                told[peer, default: [:]][update.destination] = update
            }
            messageCounts[peer, default: 0] += 1
            return true
        }

        /// The first neighbour does.
        mutating func tell(
            of ids: [PeerID], seqno: UInt32, metric: UInt16 = 96, kind: DestinationKind = .node
        ) {
            let items = ids.map {
                RoutingMessage.Item.update(
                    .init(destination: $0, seqno: seqno, metric: metric, kind: kind))
            }
            receive(items, from: RoutingRenewalTests.teller)
        }

        mutating func ask(for id: PeerID, seqno: UInt32, by peer: PeerID) {
            receive([.request(destination: id, seqno: seqno, hopLimit: 64)], from: peer)
        }

        private mutating func receive(_ items: [RoutingMessage.Item], from peer: PeerID) {
            let number = (numbers[peer] ?? 0) + 1
            numbers[peer] = number
            let message = RoutingMessage(number: number, acknowledged: 0, items: items)
            handle(.received(message, from: peer))
        }

        func seqno(of id: PeerID, toldTo peer: PeerID) -> UInt32? { told[peer]?[id]?.seqno }
    }

    private static let teller = RoutingNetwork.peer(1)
    private static let listener = RoutingNetwork.peer(2)
    private static let far = (100..<110).map { RoutingNetwork.peer($0) }

    /// All in one message, and none later than the pause.
    @Test func severalAreToldTogether() {
        var scene = Scene(neighbours: 1...4, to: Self.far)
        let start = scene.now
        for id in Self.far {
            scene.tell(of: [id], seqno: 2)
            scene.pass(.milliseconds(100))
        }
        #expect(Self.far.allSatisfy { scene.seqno(of: $0, toldTo: Self.listener) == 1 })
        scene.pass(start + Limits.routingRenewalPause - scene.now)
        for number in 2...4 {
            let peer = RoutingNetwork.peer(number)
            #expect(Self.far.allSatisfy { scene.seqno(of: $0, toldTo: peer) == 2 })
            #expect(scene.messageCounts[peer] == 1)
        }
    }

    @Test(arguments: [DestinationKind.collector, .viewer])
    func whatReadingsNeedIsToldAtOnce(_ kind: DestinationKind) {
        var scene = Scene(neighbours: 1...4, to: [Self.far[0]], kind: kind)
        scene.tell(of: [Self.far[0]], seqno: 2, kind: kind)
        #expect(scene.seqno(of: Self.far[0], toldTo: Self.listener) == 2)
    }

    /// The answer to what a neighbour asked for goes on at once, on each node that it crosses.
    @Test func whoAskedIsTold() {
        var scene = Scene(neighbours: 1...4, to: Self.far)
        scene.ask(for: Self.far[3], seqno: 2, by: Self.listener)
        scene.pass(.milliseconds(200))
        scene.tell(of: Self.far, seqno: 2)
        #expect(scene.seqno(of: Self.far[3], toldTo: Self.listener) == 2)
        #expect(scene.seqno(of: Self.far[4], toldTo: Self.listener) == 1)
    }

    /// Who asks for what the others are told of later is answered; and who asks for more than there
    /// is gets what there is: it may be feasible for it.
    @Test(arguments: [2, 3] as [UInt32])
    func whoAsksMeanwhileIsAnswered(_ seqno: UInt32) {
        var scene = Scene(neighbours: 1...4, to: Self.far)
        scene.tell(of: Self.far, seqno: 2)
        scene.pass(.milliseconds(200))
        scene.ask(for: Self.far[3], seqno: seqno, by: Self.listener)
        #expect(scene.seqno(of: Self.far[3], toldTo: Self.listener) == 2)
        #expect(scene.seqno(of: Self.far[3], toldTo: RoutingNetwork.peer(3)) == 1)
    }

    /// Some of the requests are not passed on, and others' are answered.
    @Test func whoseRequestFoundNoRoomIsTold() {
        let ids = (100..<200).map { RoutingNetwork.peer($0) }
        var scene = Scene(neighbours: 1...4, to: ids)
        for id in ids { scene.ask(for: id, seqno: 2, by: Self.listener) }
        scene.pass(.milliseconds(200))
        scene.tell(of: ids, seqno: 2)
        scene.pass(.milliseconds(200))
        #expect(ids.allSatisfy { scene.seqno(of: $0, toldTo: Self.listener) == 2 })
        // That is over some seconds later.
        scene.pass(Limits.requestTime + Limits.awaitedTime)
        scene.tell(of: ids, seqno: 3)
        #expect(ids.allSatisfy { scene.seqno(of: $0, toldTo: Self.listener) == 2 })
    }

    @Test func whoAskedIsToldWhenTheAnswerTookLong() {
        var scene = Scene(neighbours: 1...4, to: Self.far)
        scene.ask(for: Self.far[3], seqno: 2, by: Self.listener)
        scene.pass(Limits.requestTime + .milliseconds(100))
        scene.tell(of: Self.far, seqno: 2)
        #expect(scene.seqno(of: Self.far[3], toldTo: Self.listener) == 2)
        // It has what it asked for.
        scene.tell(of: [Self.far[3]], seqno: 3)
        #expect(scene.seqno(of: Self.far[3], toldTo: Self.listener) == 2)
    }

    /// Until its seqno is above those of its earlier run, its neighbours alone can use it.
    @Test func whatMakesARestartedNodeUsableIsToldAtOnce() {
        var scene = Scene(neighbours: 1...4, to: [])
        scene.tell(of: [Self.teller], seqno: 100, metric: 0)
        scene.pass(.seconds(5))
        scene.handle(.neighbourDown(Self.teller))
        scene.pass(.seconds(1))
        scene.handle(.neighbourUp(Self.teller, cost: 96))
        scene.tell(of: [Self.teller], seqno: 7, metric: 0)
        scene.pass(.milliseconds(20))
        scene.tell(of: [Self.teller], seqno: 101, metric: 0)
        #expect(scene.seqno(of: Self.teller, toldTo: Self.listener) == 101)
    }

    /// What else becomes of it meanwhile does not wait, and is not undone when the pause is over.
    @Test(arguments: [RoutingMessage.metricInfinite, 48])
    func whatElseHappensIsToldAtOnce(_ metric: UInt16) {
        var scene = Scene(neighbours: 1...4, to: Self.far)
        scene.tell(of: Self.far, seqno: 2)
        scene.pass(.milliseconds(200))
        scene.tell(of: [Self.far[3]], seqno: 2, metric: metric)
        let expected = metric == RoutingMessage.metricInfinite ? metric : metric + 96
        #expect(scene.told[Self.listener]?[Self.far[3]]?.metric == expected)
        scene.pass(Limits.routingRenewalPause)
        #expect(scene.told[Self.listener]?[Self.far[3]]?.metric == expected)
        #expect(scene.seqno(of: Self.far[4], toldTo: Self.listener) == 2)
    }
}
