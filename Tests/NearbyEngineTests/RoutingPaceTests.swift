import NearbyCore
import NearbyWire
import Testing

@testable import NearbyEngine

/// A node with few neighbours, of which one tells of very many destinations, one after the other.
struct RoutingPaceTests {
    /// Its neighbours acknowledge at once, or later.
    private struct Scene: RoutingScene {
        var machine = RoutingMachine(own: RoutingNetwork.peer(0), kind: .node)
        var now = Instant.zero
        /// What each neighbour was told of, and when first.
        var told: [PeerID: [PeerID: Instant]] = [:]
        /// Messages with changes, by neighbour.
        var messageCounts: [PeerID: Int] = [:]
        /// Those that acknowledge nothing.
        var silent: Set<PeerID> = []
        /// The last that each of them was sent.
        private var unacknowledged: [PeerID: UInt32] = [:]
        private var number: UInt32 = 4

        init(neighbours: ClosedRange<Int>) {
            for number in neighbours {
                handle(.neighbourUp(RoutingNetwork.peer(number), cost: 96))
            }
            pass(.seconds(10))
            messageCounts = [:]
        }

        mutating func receives(_ message: RoutingMessage, _ peer: PeerID) -> Bool {
            for case .update(let update) in message.items {
                let first = told[peer]?[update.destination] ?? now
                told[peer, default: [:]][update.destination] = first
            }
            messageCounts[peer, default: 0] += 1
            guard silent.contains(peer) else { return true }
            unacknowledged[peer] = message.number
            return false
        }

        mutating func acknowledge(by peer: PeerID) {
            guard let number = unacknowledged.removeValue(forKey: peer) else { return }
            let answer = RoutingMessage(number: 0, acknowledged: number, items: [])
            handle(.received(answer, from: peer))
        }

        mutating func tell(
            of ids: [PeerID], by peer: PeerID, kind: DestinationKind = .node, metric: UInt16 = 96
        ) {
            number += 1
            let items = ids.map {
                RoutingMessage.Item.update(
                    .init(destination: $0, seqno: 1, metric: metric, kind: kind))
            }
            handle(
                .received(
                    RoutingMessage(number: number, acknowledged: 0, items: items), from: peer))
        }
    }

    private static let teller = RoutingNetwork.peer(1)
    private static let listener = RoutingNetwork.peer(2)
    private static let newcomers = (100..<500).map { RoutingNetwork.peer($0) }

    /// One each millisecond, as where many get power at once.
    private static func storm(_ scene: inout Scene, of ids: some Sequence<PeerID> = newcomers) {
        for id in ids {
            scene.tell(of: [id], by: teller)
            scene.pass(.milliseconds(1))
        }
    }

    @Test func manyChangesLeaveInFewMessagesAndNoneWaitsForLong() throws {
        var scene = Scene(neighbours: 1...4)
        let start = scene.now
        Self.storm(&scene)
        scene.pass(Limits.routingPaceInterval)
        for number in 2...4 {
            let peer = RoutingNetwork.peer(number)
            let times = try #require(scene.told[peer])
            for (place, id) in Self.newcomers.enumerated() {
                let time = try #require(times[id])
                let isLate = time > start + .milliseconds(1) * place + Limits.routingPaceInterval
                #expect(!isLate)
            }
            // The burst is for all three; 400 ms are twenty intervals.
            let most = Int(Limits.routingPaceBurst) / 3 + 1 + 21
            #expect(try #require(scene.messageCounts[peer]) <= most)
        }
    }

    @Test func afterAQuietTimeEachIsToldAtOnce() throws {
        var scene = Scene(neighbours: 1...4)
        Self.storm(&scene)
        scene.pass(.seconds(10))
        for id in (600..<620).map({ RoutingNetwork.peer($0) }) {
            scene.tell(of: [id], by: Self.teller)
            #expect(scene.told[Self.listener]?[id] == scene.now)
            scene.pass(.microseconds(500))
        }
    }

    @Test(arguments: [DestinationKind.collector, .viewer])
    func whatReadingsNeedIsToldAtOnce(_ kind: DestinationKind) throws {
        var scene = Scene(neighbours: 1...4)
        Self.storm(&scene)
        let urgent = RoutingNetwork.peer(700)
        scene.tell(of: [urgent], by: Self.teller, kind: kind)
        #expect(scene.told[Self.listener]?[urgent] == scene.now)
        scene.pass(.microseconds(500))
        // And so is its end; and nothing after it.
        let count = try #require(scene.messageCounts[Self.listener])
        scene.tell(of: [urgent], by: Self.teller, kind: kind, metric: RoutingMessage.metricInfinite)
        #expect(scene.messageCounts[Self.listener] == count + 1)
        scene.tell(of: [RoutingNetwork.peer(701)], by: Self.teller)
        #expect(scene.messageCounts[Self.listener] == count + 1)
    }

    /// Where there is more than one message holds, the others follow the acknowledgements.
    @Test func whatDoesNotFitIsNotHeldBack() throws {
        var scene = Scene(neighbours: 1...4)
        Self.storm(&scene)
        let many = (800..<900).map { RoutingNetwork.peer($0) }
        for start in stride(from: 0, to: 100, by: 25) {
            scene.tell(of: Array(many[start..<start + 25]), by: Self.teller)
        }
        let start = scene.now
        scene.pass(.seconds(1))
        for number in 2...4 {
            let told = try #require(scene.told[RoutingNetwork.peer(number)])
            let times = Set(many.compactMap { told[$0] })
            #expect(many.allSatisfy { told[$0] != nil })
            #expect(times.count == 1)
            #expect(times.allSatisfy { $0 <= start + Limits.routingPaceInterval })
        }
    }

    /// Who was silent in its turn, and acknowledges when nobody is told anything, is told in the
    /// next turn: where nothing else changes, where the neighbours become many, and where they
    /// become few again.
    @Test(arguments: [4, 30, 17])
    func whoAcknowledgesLateIsTold(_ last: Int) throws {
        var scene = Scene(neighbours: 1...4)
        scene.silent = [Self.listener]
        scene.tell(of: [RoutingNetwork.peer(90)], by: Self.teller)
        Self.storm(&scene)
        scene.pass(Limits.routingPaceInterval)
        // The turn is over; all but one have been told.
        let late = try #require(Self.newcomers.last)
        #expect(scene.told[RoutingNetwork.peer(3)]?[late] != nil)
        #expect(scene.told[Self.listener]?[late] == nil)
        if last > 4 {
            for number in 5...last {
                scene.handle(.neighbourUp(RoutingNetwork.peer(number), cost: 96))
            }
        }
        scene.silent = []
        scene.acknowledge(by: Self.listener)
        if last == 17 { scene.handle(.neighbourDown(RoutingNetwork.peer(17))) }
        scene.pass(.milliseconds(100))
        #expect(scene.told[Self.listener]?[late] != nil)
    }

    /// Who waits while they are few is told where they become many.
    @Test func whoWaitsIsToldWhereTheyBecomeMany() {
        var scene = Scene(neighbours: 1...4)
        Self.storm(&scene, of: Self.newcomers.prefix(200))
        for id in Self.newcomers.suffix(5) { scene.tell(of: [id], by: Self.teller) }
        for number in 30...50 {
            scene.handle(.neighbourUp(RoutingNetwork.peer(number), cost: 96))
        }
        scene.pass(.seconds(10))
        for number in Array(2...4) + Array(30...50) {
            let told = scene.told[RoutingNetwork.peer(number)] ?? [:]
            #expect(Self.newcomers.suffix(5).allSatisfy { told[$0] != nil })
        }
    }
}
