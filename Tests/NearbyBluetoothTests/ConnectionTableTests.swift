import NearbyCore
import Testing

@testable import NearbyBluetooth

struct ConnectionTableTests {
    private func pair(seed: UInt64 = 1) -> RadioWorld {
        var world = RadioWorld([10, 20], seed: seed)
        world.hear(0, 1)
        world.hear(1, 0)
        return world
    }

    @Test func theLowerPeerConnectsAtOnce() {
        var world = pair()
        world.give(0, .send([1], to: world.nodes[1].address))
        #expect(world.nodes[0].connects == 1)
        world.pass(.seconds(3))
        #expect(world.nodes[1].received.map(\.bytes) == [[1]])
        #expect(world.nodes[1].received.first?.from == world.nodes[0].address)
    }

    @Test func theHigherPeerWaitsThreeSecondsAndConnectsAllTheSame() {
        var world = pair()
        world.give(1, .send([1], to: world.nodes[0].address))
        world.pass(.milliseconds(2_990))
        #expect(world.nodes[1].connects == 0)
        world.pass(.milliseconds(1_020))
        #expect(world.nodes[1].connects == 1)
        world.pass(.seconds(2))
        #expect(world.nodes[0].received.map(\.bytes) == [[1]])
    }

    @Test func whatTheHigherPeerHasToSayGoesOverTheLowersChannel() {
        var world = pair()
        world.give(1, .send([2], to: world.nodes[0].address))
        world.give(0, .send([1], to: world.nodes[1].address))
        world.pass(.seconds(20))
        #expect(world.nodes[1].connects == 0)
        #expect(world.nodes[0].received.map(\.bytes) == [[2]])
        #expect(world.nodes[1].received.map(\.bytes) == [[1]])
    }

    @Test func queuesKeepTheNewest() {
        var world = pair()
        for number: UInt8 in 0..<20 {
            world.give(0, .send([number], to: world.nodes[1].address))
        }
        world.pass(.seconds(3))
        #expect(world.nodes[1].received.map(\.bytes) == (12..<20).map { [$0] })
        #expect(world.nodes[0].drops[.bluetoothQueueFull] == 12)
    }

    @Test func aConnectEndsAfterTenSecondsAndIsTriedAgain() {
        var world = pair()
        world.connectDelay = .seconds(100) ..< .seconds(101)
        world.give(0, .send([1], to: world.nodes[1].address))
        world.pass(.milliseconds(9_990))
        #expect(world.nodes[0].drops[.bluetoothConnectFailed] == 0)
        world.pass(.milliseconds(20))
        #expect(world.nodes[0].drops[.bluetoothConnectFailed] == 1)
        world.pass(.seconds(2))
        #expect(world.nodes[0].connects == 2)
        // The datagram grows old: nobody connects for its sake any more.
        world.pass(.seconds(200))
        #expect(world.nodes[0].connects <= 4)
    }

    @Test func pausesGrowWithFailures() {
        var world = pair()
        world.failures = 100
        var attempts: [Int] = []
        for _ in 0..<10 {
            let before = world.nodes[0].connects
            for _ in 0..<60 {
                world.hear(0, 1)
                world.give(0, .send([1], to: world.nodes[1].address))
                world.pass(.seconds(1))
            }
            attempts.append(world.nodes[0].connects - before)
        }
        #expect(attempts[0] >= 4)
        #expect(attempts.suffix(3).allSatisfy { $0 <= 1 }, "\(attempts)")
    }

    @Test func bothChannelsOfAPairAreHeardAndTheNewestIsUsed() {
        var world = pair()
        var table = world.nodes[0].table
        let other = world.nodes[1].address
        guard
            case .connect(let first, _, _)? = table.handle(.send([1], to: other), now: .zero).first
        else {
            Issue.record("it does not connect")
            return
        }
        let second = table.makeID()
        _ = table.handle(.accepted(second, from: other, messageBytesMax: 1_200), now: .zero)
        #expect(
            table.handle(.send([2], to: other), now: .zero) == [.write([2], on: second)])
        _ = table.handle(.connected(first, messageBytesMax: 1_200), now: .zero)
        #expect(table.handle(.send([3], to: other), now: .zero) == [.write([3], on: first)])
        #expect(table.address(of: first) == table.address(of: second))
        _ = table.handle(.ended(first, code: 0), now: .zero)
        #expect(table.handle(.send([4], to: other), now: .zero) == [.write([4], on: second)])
        world.nodes[0].table = table
    }

    @Test func idleChannelsAreClosed() {
        var world = pair()
        world.give(0, .send([1], to: world.nodes[1].address))
        world.give(1, .send([1], to: world.nodes[0].address))
        world.pass(.seconds(60))
        world.give(0, .send([1], to: world.nodes[1].address))
        world.give(1, .send([1], to: world.nodes[0].address))
        world.pass(.seconds(80))
        #expect(world.nodes[0].table.connected.count == 1)
        world.pass(.seconds(30))
        #expect(world.nodes[0].table.connected.isEmpty)
        #expect(world.nodes[1].table.connected.isEmpty)
    }

    /// Whose power went without a word: no controller told of it (seen in the lab, after rfkill).
    @Test func aChannelOnWhichNothingAnswersIsClosed() {
        var world = pair()
        let (near, far) = (world.nodes[0].address, world.nodes[1].address)
        world.give(0, .send([1], to: far))
        world.give(1, .send([1], to: near))
        world.pass(.seconds(15))
        var table = world.nodes[0].table
        let channel = table.peers.flatMap(\.channels).first?.id
        var closed: [Duration] = []
        for seconds in 1...60 {
            let now = world.now + .seconds(seconds)
            let outputs =
                table.handle(.send([1], to: far), now: now)
                + table.handle(.deadlineReached, now: now)
            if let channel, outputs.contains(.close(channel)) { closed.append(.seconds(seconds)) }
        }
        // The first that was owed an answer was written after one second.
        #expect(closed == [.seconds(21)])
    }

    @Test func whoIsSilentForTwoMinutesIsNoLongerAround() {
        var world = pair()
        #expect(world.nodes[0].present == [world.nodes[1].address])
        world.pass(.seconds(119))
        #expect(world.nodes[0].present.count == 1)
        world.pass(.seconds(2))
        #expect(world.nodes[0].present.isEmpty)
        #expect(world.nodes[0].table.nextDeadline == nil)
    }

    @Test func atTheControllersLimitNobodyElseIsConnectedTo() {
        var world = RadioWorld(Array(1...10), seed: 3)
        for other in 1..<10 {
            world.hear(0, other)
            world.give(0, .send([1], to: world.nodes[other].address))
        }
        world.pass(.seconds(5))
        let most = Limits.bluetoothConnectionsMax - 1
        #expect(world.nodes[0].table.connected.count == most)
        #expect(world.nodes[0].drops[.bluetoothConnectionLimit] >= 2)
        world.off(1)
        world.pass(.seconds(5))
        world.give(0, .send([1], to: world.nodes[9].address))
        world.pass(.seconds(40))
        #expect(world.nodes[0].table.connected.count <= most)
        #expect(world.nodes[9].received.count >= 1)
    }

    /// Seven devices that prove nothing and say something every second, so that none is quiet; one
    /// of them may have proved to be a member, and says nothing.
    private func full(until seconds: Int64) -> (table: ConnectionTable, now: Instant) {
        var table = ConnectionTable(peerPrefix: 5, configured: [], seed: 1)
        _ = table.handle(.adapterUp(Self.address(99)), now: .zero)
        let most = UInt64(Limits.bluetoothConnectionsMax)
        let ids = (1...most).map { number in
            let id = table.makeID()
            let accepted = ConnectionTable.Input.accepted(
                id, from: Self.address(number), messageBytesMax: 1_200)
            #expect(table.handle(accepted, now: .zero).contains(.close(id)) == false)
            return id
        }
        var now = Instant.zero
        for second in 1...seconds {
            now = .zero + .seconds(second)
            for id in ids.dropFirst() { _ = table.handle(.received(id), now: now) }
        }
        return (table, now)
    }

    private static func address(_ value: UInt64) -> BluetoothAddress {
        BluetoothAddress(value: value, kind: .lowEnergyPublic)
    }

    private func wantsToConnect(_ table: inout ConnectionTable, _ now: Instant) throws
        -> [ConnectionTable.Output]
    {
        let advertisement = try #require(
            Advertisement(networkTag: 0, psm: 0x80, peerPrefix: 9))
        _ = table.handle(.heard(advertisement, from: Self.address(50)), now: now)
        return table.handle(.send([1], to: Self.address(50)), now: now)
    }

    @Test func strangersMakeWayWhateverTheySay() throws {
        var (table, now) = full(until: 20)
        #expect(table.wantsNeighbours(for: .send([1], to: Self.address(50))))
        #expect(!table.wantsNeighbours(for: .send([1], to: Self.address(2))))
        _ = table.handle(.neighbours([Self.address(1)]), now: now)
        let outputs = try wantsToConnect(&table, now)
        // The member keeps its place, though it has said nothing for 20 s.
        #expect(table.connected.contains(Self.address(1)))
        #expect(outputs.contains { if case .close = $0 { true } else { false } })
        #expect(outputs.contains { if case .connect = $0 { true } else { false } })
    }

    @Test func whoIsNewOrAMemberKeepsItsPlace() throws {
        for (seconds, neighbours) in [(10, 0), (20, 7)] as [(Int64, UInt64)] {
            var (table, now) = full(until: seconds)
            // Who says something.
            _ = table.handle(.received(BluetoothChannelID(value: 1)), now: now)
            let known = (0..<neighbours).map { Self.address($0 + 1) }
            _ = table.handle(.neighbours(known), now: now)
            let outputs = try wantsToConnect(&table, now)
            #expect(outputs.contains(.drop(.bluetoothConnectionLimit)))
            #expect(table.connected.count == Limits.bluetoothConnectionsMax)
        }
    }

    /// Controllers that hold two connections are full of each other, three by three.
    @Test(arguments: 1...30 as ClosedRange<UInt64>)
    func whoComesLateIsNotShutOut(_ seed: UInt64) {
        for count in [4, 5] {
            var world = RadioWorld((0..<count).map { UInt64($0 + 1) }, seed: seed)
            world.controllerMax = 2
            world.off(0)
            world.live(60)
            world.on(0)
            world.live(400)
            #expect(!world.nodes[0].table.connected.isEmpty, "of \(count)")
        }
    }

    /// A full controller whose neighbours all connected to it, and one that only it reaches; then
    /// one to which it connected itself. Whoever goes for the latecomer comes back.
    @Test(
        arguments: [[2, 3, 1, 4], [2, 3, 9, 1], [2, 3, 4, 9]] as [[UInt64]],
        1...10 as ClosedRange<UInt64>)
    func whomOnlyAFullNodeReachesIsNotShutOut(_ prefixes: [UInt64], _ seed: UInt64) throws {
        let full = 2
        var world = RadioWorld(prefixes + [5], seed: seed)
        let late = prefixes.count
        world.controllerMax = 3
        world.isInReach = { [$0, $1].contains(full) }
        world.off(late)
        world.live(60)
        #expect(world.nodes[full].table.connected.count == 3)
        world.on(late)
        world.live(300)
        #expect(world.nodes[late].received.contains { $0.from == world.nodes[full].address })
        // Of five that want in, and of whom four find no other, each had its turn in half an hour.
        world.live(1_500)
        let heard = Set(world.nodes[full].received.map(\.from))
        #expect(heard.count == prefixes.count)
    }

    /// Links that end take a place for a while: that is not what the controller holds.
    @Test func aRefusalBesideEndingLinksSaysNothing() {
        var room = ControllerRoom()
        room.ended(.zero + .seconds(1))
        room.refused(beside: 4, .zero + .seconds(2))
        #expect(room.most == Limits.bluetoothConnectionsMax)
        room.refused(beside: 4, .zero + .seconds(20))
        #expect(room.most == 4)
        room.held(5)
        #expect(room.most == 5)
        room.refused(beside: 0, .zero + .seconds(30))
        #expect(room.most == 2)
        room.tryMore(.zero + .seconds(600))
        #expect(room.most == 2)
        room.tryMore(.zero + .seconds(630))
        #expect(room.most == 3)
    }

    /// More nodes in reach of each other than anybody can be connected to at once.
    @Test func everybodyIsReachedInTurn() {
        var world = RadioWorld(Array(1...12), seed: 7)
        world.live(300)
        for node in world.nodes {
            #expect(Set(node.received.map(\.from)).count == 11)
            #expect(node.table.connected.count <= Limits.bluetoothConnectionsMax)
        }
    }

    @Test func theTableOfPeersIsBounded() {
        var world = RadioWorld([1], seed: 1)
        for number in 0..<10_000 {
            let address = BluetoothAddress(value: UInt64(number), kind: .lowEnergyRandom)
            let advertisement = Advertisement(
                networkTag: 0, psm: 0x80, peerPrefix: UInt64(number))!
            world.give(0, .heard(advertisement, from: address))
            world.pass(.milliseconds(1))
        }
        #expect(world.nodes[0].table.peers.count == Limits.bluetoothPeersMax)
        #expect(world.nodes[0].present.count == Limits.bluetoothPeersMax)
        #expect(world.nodes[0].present.last?.value == 9_999)
    }

    @Test func whatDoesNotFitAMessageIsDropped() {
        var table = ConnectionTable(peerPrefix: 1, configured: [], seed: 1)
        let other = BluetoothAddress(value: 9, kind: .classic)
        _ = table.handle(.adapterUp(BluetoothAddress(value: 1, kind: .lowEnergyPublic)), now: .zero)
        let id = table.makeID()
        _ = table.handle(.accepted(id, from: other, messageBytesMax: 672), now: .zero)
        let long = [UInt8](repeating: 0, count: 673)
        #expect(table.handle(.send(long, to: other), now: .zero) == [.drop(.bluetoothTooLong)])
    }

    @Test func aFullSocketHoldsBackInOrder() {
        var table = ConnectionTable(peerPrefix: 1, configured: [], seed: 1)
        let other = BluetoothAddress(value: 9, kind: .lowEnergyPublic)
        _ = table.handle(.adapterUp(BluetoothAddress(value: 1, kind: .lowEnergyPublic)), now: .zero)
        let id = table.makeID()
        _ = table.handle(.accepted(id, from: other, messageBytesMax: 1_200), now: .zero)
        #expect(table.handle(.send([1], to: other), now: .zero) == [.write([1], on: id)])
        #expect(table.handle(.blocked(id, [1]), now: .zero).isEmpty)
        #expect(table.handle(.send([2], to: other), now: .zero).isEmpty)
        #expect(
            table.handle(.writable(id), now: .zero) == [.write([1], on: id), .write([2], on: id)])
        #expect(table.handle(.send([3], to: other), now: .zero) == [.write([3], on: id)])
    }

    @Test func classicIsAFallback() {
        let configured = BluetoothAddress(value: 9, kind: .classic)
        let twin = BluetoothAddress(value: 9, kind: .lowEnergyPublic)
        var table = ConnectionTable(peerPrefix: 1, configured: [configured], seed: 1)
        let own = BluetoothAddress(value: 1, kind: .lowEnergyPublic)
        #expect(table.handle(.adapterUp(own), now: .zero) == [.peers([configured])])
        guard
            case .connect(_, configured, ConnectionTable.classicPSM)? = table.handle(
                .send([1], to: configured), now: .zero
            ).first
        else {
            Issue.record("it does not connect")
            return
        }
        let advertisement = Advertisement(networkTag: 0, psm: 0x80, peerPrefix: 2)!
        #expect(
            table.handle(.heard(advertisement, from: twin), now: .zero) == [.peers([twin])])
    }

    /// Nodes that speak to each other in random order while connects fail and controllers go off
    /// and on: in the end everybody reaches everybody, and no table waits in vain.
    @Test(arguments: 1...200 as ClosedRange<UInt64>)
    func whateverHappensTheyMeet(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var world = RadioWorld(
            [UInt64.random(in: 1...1_000, using: &random), 500, 1_001], seed: seed)
        world.failures = Int.random(in: 0...60, using: &random)
        for _ in 0..<100 {
            let node = Int.random(in: 0..<3, using: &random)
            let other = (node + Int.random(in: 1...2, using: &random)) % 3
            switch Int.random(in: 0..<10, using: &random) {
            case 0: world.off(node)
            case 1: world.on(node)
            case 2...5: world.hear(node, other)
            default: world.give(node, .send([1], to: world.nodes[other].address))
            }
            world.pass(.milliseconds(Int64.random(in: 0...5_000, using: &random)))
            for node in world.nodes {
                #expect(node.table.nextDeadline.map { $0 > world.now } ?? true)
                #expect(node.table.peers.allSatisfy { $0.channels.count <= 4 })
            }
        }
        world.failures = 0
        for node in 0..<3 { world.on(node) }
        for node in 0..<3 { world.nodes[node].received = [] }
        for _ in 0..<100 {
            for node in 0..<3 {
                for other in 0..<3 where other != node {
                    world.hear(node, other)
                    world.give(node, .send([UInt8(node)], to: world.nodes[other].address))
                }
            }
            world.pass(.seconds(1))
        }
        for node in world.nodes {
            #expect(Set(node.received.map(\.from.value)).count == 2)
        }
    }
}
