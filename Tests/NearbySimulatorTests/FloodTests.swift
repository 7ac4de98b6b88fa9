import NearbyCore
import NearbyEngine
import NearbyWire
import Testing

@testable import NearbySimulator

/// What outsiders can send as fast as they like, against whole nodes.
struct FloodTests {
    private static let tag = NetworkTag(value: 0x5eed)
    private static let link = LinkID(value: 1)

    private static func at(_ host: UInt64) -> Endpoint {
        Endpoint(link: link, address: .simulated(host))
    }

    /// A node that is driven by hand, and lets everybody in.
    private func node(
        _ peer: PeerID, run: UInt64, role: Role = .agent, at now: Instant = .zero
    ) -> Node {
        var configuration = NodeConfiguration(
            name: "n\(run)", role: role, networkTag: Self.tag, run: RunID(value: run), seed: run)
        configuration.dataPort = 1
        let node = Node(
            configuration, cryptography: SimulatedCryptography(peer: peer, seed: run))
        node.handle(.start, now: now)
        node.handle(.linkUp(Self.link, .ethernet), now: now)
        return node
    }

    private func frame(_ body: DiscoveryFrame.Body, of peer: PeerID, run: UInt64) -> [UInt8] {
        DiscoveryFrame(
            versions: WireVersion.spoken, network: Self.tag, peer: peer, run: RunID(value: run),
            body: body
        ).bytes
    }

    private func beacon(of peer: PeerID, run: UInt64) -> [UInt8] {
        let beacon = Beacon(
            dataPort: 0, role: .agent, flags: .wantsNeighbours, costToCollector: nil,
            infoDigest: 0)
        return frame(.beacon(beacon), of: peer, run: run)
    }

    // MARK: Handshakes

    /// Hosts that never start lend their addresses to somebody who returns every cookie and then
    /// falls silent.
    @Test(arguments: [
        (flooders: 1, role: Role.agent), (flooders: 40, role: .agent), (40, .collector),
    ])
    func whoBeginsHandshakesAndFallsSilentLocksNobodyOut(flooders: Int, role: Role) {
        let roles = [role] + [Role](repeating: .agent, count: 1 + flooders)
        let simulator = Simulator(seed: 7, world: .lan(roles))
        simulator.trafficInterval = nil
        simulator.tap = { [unowned simulator] bytes, receiver in
            guard receiver >= 2, let envelope = try? HandshakeEnvelope(parsing: bytes[...]),
                let record = SimulatedRecord(parsing: envelope.records), record.step == .cookie
            else { return }
            let hello = SimulatedRecord(
                .helloWithCookie, random: UInt64(envelope.attempt), peer: PeerID(high: 1, low: 1),
                cookie: record.random)
            inject(hello, envelope.attempt, from: receiver, simulator)
        }
        simulator.boot(host: 0)
        var joined: Instant?
        for step in 0..<8_000 as Range<UInt32> {
            let hello = SimulatedRecord(.hello, random: 0, peer: PeerID(high: 1, low: 1))
            inject(hello, step, from: 2 + Int(step) % flooders, simulator)
            if step == 2_000 { simulator.boot(host: 1) }
            simulator.run(for: .milliseconds(1))
            let sizes = simulator.hosts[0].node?.tableSizes ?? []
            #expect(sizes.allSatisfy { $0.count <= $0.limit })
            if joined == nil, simulator.hosts[0].node?.neighbourStatus.isEmpty == false {
                joined = simulator.now
            }
        }
        // Begun at 2 s; where the table is full, it may have to repeat its flight.
        let limit: Duration = flooders == 1 ? .milliseconds(2_500) : .seconds(5)
        #expect(joined ?? .distantFuture <= .zero + limit, "\(String(describing: joined))")
        let drops = simulator.hosts[0].node?.dropCounters
        let refusal = flooders == 1 ? DropReason.handshakeShareFull : .handshakeTableFull
        #expect(drops?[refusal] ?? 0 > 0)
        #expect(drops?[.handshakeEvicted] ?? 0 > 0)
    }

    private func inject(
        _ record: SimulatedRecord, _ attempt: UInt32, from host: Int, _ simulator: Simulator
    ) {
        let envelope = HandshakeEnvelope(
            isFromServer: false, attempt: attempt, introduction: nil, records: record.bytes[...])
        simulator.inject(envelope.bytes, to: 0, from: Self.at(UInt64(host)))
    }

    @Test func aSilentHandshakeIsKeptThreeSeconds() throws {
        let peer = PeerID(high: 9, low: 9)
        let door = node(PeerID(high: 5, low: 5), run: 1)
        let caller = SimulatedHandshake(
            client: peer, certification: nil, random: 3, now: .zero)
        for _ in 0..<2 {
            let records = try #require(caller.takeOutgoing().first)
            let envelope = HandshakeEnvelope(
                isFromServer: false, attempt: 1, introduction: nil, records: records[...])
            door.handle(
                .datagram(envelope.bytes, from: Self.at(9), isMulticast: false), now: .zero)
            for case .transmit(.unicast(let bytes, _)) in door.flush(now: .zero) {
                let answer = try HandshakeEnvelope(parsing: bytes[...])
                caller.receive(answer.records, now: .zero)
            }
        }
        #expect(handshakeCount(door) == 1)
        door.handle(.deadlineReached, now: .zero + .milliseconds(2_990))
        #expect(handshakeCount(door) == 1)
        door.handle(.deadlineReached, now: .zero + .milliseconds(3_000))
        #expect(handshakeCount(door) == 0)
        #expect(door.dropCounters[.handshakeTimeout] == 1)
    }

    private func handshakeCount(_ node: Node) -> Int? {
        node.tableSizes.first { $0.name == "handshakes of others" }?.count
    }

    // MARK: Nudges and frames of unknown channels

    @Test func inventedNudgesFillNoTableBeyondItsBound() {
        let door = node(PeerID(high: 5, low: 5), run: 1)
        var now = Instant.zero
        for index in 0..<40_000 as Range<UInt64> {
            now = now + .microseconds(500)
            let peer = PeerID(high: index * 0x9e37_79b9, low: index)
            door.handle(
                .datagram(
                    frame(.nudge(attempt: 1), of: peer, run: index), from: Self.at(1_000 + index),
                    isMulticast: false), now: now)
            if index % 16 == 0 {
                door.handle(.deadlineReached, now: now)
                _ = door.flush(now: now)
            }
        }
        #expect(door.sightingCount <= Limits.discoveryPeersMax)
        for size in door.tableSizes { #expect(size.count <= size.limit, "\(size)") }
        #expect(door.dropCounters[.discoveryTableFull] > 30_000)
        // From one address they are a few in ten seconds.
        let before = door.dropCounters[.beaconNudgeShare]
        for index in 0..<1_000 as Range<UInt64> {
            let peer = PeerID(high: 7, low: index)
            door.handle(
                .datagram(
                    frame(.nudge(attempt: 1), of: peer, run: index), from: Self.at(3),
                    isMulticast: false), now: now)
        }
        #expect(door.dropCounters[.beaconNudgeShare] >= before + 980)
    }

    @Test func framesOfUnknownChannelsKeepNobodyFromBeingTried() {
        let door = node(PeerID(high: 5, low: 5), run: 1)
        var now = Instant.zero + .seconds(100)
        while let deadline = door.nextDeadline, deadline < now {
            door.handle(.deadlineReached, now: deadline)
            _ = door.flush(now: deadline)
        }
        door.handle(.staticPeers([Self.at(7)]), now: now)
        var tried = 0
        var answers = 0
        for index in 0..<4_000 as Range<UInt64> {
            now = now + .milliseconds(1)
            var garbage = [UInt8](repeating: UInt8(truncatingIfNeeded: index), count: 60)
            garbage[0] = 0x80
            door.handle(
                .datagram(garbage, from: Self.at(1_000 + index), isMulticast: false), now: now)
            door.handle(.deadlineReached, now: now)
            for case .transmit(.unicast(_, let endpoint)) in door.flush(now: now) {
                if endpoint == Self.at(7) { tried += 1 } else { answers += 1 }
            }
        }
        #expect((4...8).contains(tried), "\(tried)")
        #expect((12...20).contains(answers), "\(answers)")
    }

    // MARK: Our own name

    /// Hands everything that one sends to the other, whose source address is `host`.
    private func pass(
        _ outputs: [Node.Output], to node: inout Node, from host: UInt64, _ now: Instant
    ) {
        for case .transmit(.unicast(let bytes, _)) in outputs {
            node.handle(.datagram(bytes, from: Self.at(host), isMulticast: false), now: now)
        }
    }

    private func isAlarm(_ output: Node.Output) -> Bool {
        if case .event(.diagnostic(.ownIdentityElsewhere)) = output { true } else { false }
    }

    @Test func aReplayOfOurOwnPastRaisesNoAlarm() {
        let own = PeerID(high: 5, low: 5)
        let door = node(own, run: 1)
        var outputs: [Node.Output] = []
        for second in 0..<300 {
            let now = Instant.zero + .seconds(second)
            door.handle(
                .datagram(beacon(of: own, run: 77), from: Self.at(9), isMulticast: true), now: now)
            door.handle(.deadlineReached, now: now)
            outputs += door.flush(now: now)
        }
        #expect(!outputs.contains(where: isAlarm))
        #expect(
            !outputs.contains { if case .event(.diagnostic) = $0 { true } else { false } })
        // Five handshakes, at 0, 10, 30, 70 and 150 s, each with its repetitions.
        let sent = outputs.count {
            guard case .transmit(.unicast(let bytes, Self.at(9))) = $0 else { return false }
            return bytes.first == HandshakeEnvelope.type
        }
        #expect((5...60).contains(sent), "\(sent)")
    }

    @Test func aCopyThatProvesOurKeyRaisesTheAlarm() {
        let own = PeerID(high: 5, low: 5)
        var original = node(own, run: 1)
        var copy = node(own, run: 2)
        original.handle(
            .datagram(beacon(of: own, run: 2), from: Self.at(2), isMulticast: true), now: .zero)
        var alarms = 0
        for _ in 0..<8 {
            let sent = original.flush(now: .zero)
            alarms += sent.count(where: isAlarm)
            pass(sent, to: &copy, from: 1, .zero)
            pass(copy.flush(now: .zero), to: &original, from: 2, .zero)
        }
        #expect(alarms == 1)
        #expect(original.peerStatus.isEmpty)
    }

    /// Somebody passes our own datagrams back to us.
    @Test func aMirrorRaisesNoAlarm() {
        let own = PeerID(high: 5, low: 5)
        var door = node(own, run: 1)
        door.handle(
            .datagram(beacon(of: own, run: 2), from: Self.at(2), isMulticast: true), now: .zero)
        var outputs: [Node.Output] = []
        for _ in 0..<8 {
            let sent = door.flush(now: .zero)
            outputs += sent
            pass(sent, to: &door, from: 2, .zero)
        }
        #expect(door.dropCounters[.handshakeWrongPeer] == 2)
        #expect(!outputs.contains(where: isAlarm))
    }

    /// Old beacons of others, from addresses that pass our datagrams back: each invitation fails.
    @Test func aMirrorKeepsNobodyElseFromBeingInvited() {
        var door = node(PeerID(high: 5, low: 5), run: 1)
        for host in UInt64(2)...6 {
            let absent = PeerID(high: 10 + host, low: 1)
            door.handle(
                .datagram(beacon(of: absent, run: host), from: Self.at(host), isMulticast: true),
                now: .zero)
            for _ in 0..<8 {
                let sent = door.flush(now: .zero)
                if host == 6 { #expect(hasUnicast(sent, to: host)) }
                pass(sent, to: &door, from: host, .zero)
                if host == 6 { break }
            }
        }
        #expect(door.dropCounters[.handshakeWrongPeer] == 8)
    }

    private func hasUnicast(_ outputs: [Node.Output], to host: UInt64) -> Bool {
        outputs.contains {
            if case .transmit(.unicast(_, let to)) = $0 { to == Self.at(host) } else { false }
        }
    }
}
