import NearbyCore
import NearbyWire
import Testing

@testable import NearbyEngine

/// Attacks on the choice of neighbours.
struct NeighbourAttackTests: NeighbourScene {
    /// A full node with a good way; nine that hear it on a lossy link (base 96, true cost far
    /// more), each with its own way and four other neighbours. Nothing outside changes.
    /// `needy`: nine ends of chains instead, each with one other neighbour.
    private static func rivalry(
        rivals count: Int, needy: Bool, seconds: Int
    ) -> (drops: Int, handshakes: Int) {
        let hub = PeerID(high: 1_000, low: 0)
        var hubMachine = InvitationMachine(own: hub, role: .agent, seed: 7)
        _ = hubMachine.handle(.costToCollector(96), now: .zero)
        let rivals = (0..<count).map { PeerID(high: UInt64($0) + 2, low: 0) }
        var machines: [PeerID: InvitationMachine] = [:]
        for (index, rival) in rivals.enumerated() {
            var machine = InvitationMachine(own: rival, role: .agent, seed: UInt64(index))
            for other in 0..<(needy ? 1 : 4) {
                let peer = PeerID(high: UInt64(10_000 + index * 10 + other), low: 0)
                _ = machine.handle(.sighted(peer, sighting(cost: 500)), now: .zero)
                _ = machine.handle(
                    .admitted(
                        ChannelToken(value: UInt32(other)), peer: peer, run: RunID(value: 1),
                        attempt: 1, weAreClient: true), now: .zero)
            }
            _ = machine.handle(.costToCollector(400), now: .zero)
            machines[rival] = machine
            _ = hubMachine.handle(.sighted(rival, sighting(cost: 400)), now: .zero)
        }
        var token: UInt32 = 100
        var tokens: [PeerID: ChannelToken] = [:]
        var (drops, handshakes) = (0, 0)
        func closed(_ outputs: [InvitationMachine.Output], _ now: Instant) {
            for case .close(let gone, .dropped) in outputs {
                guard let rival = tokens.first(where: { $0.value == gone })?.key else { continue }
                drops += 1
                tokens[rival] = nil
                _ = machines[rival]!.handle(.channelClosed(gone), now: now)
            }
        }
        var now = Instant.zero
        for step in 0..<(seconds * 100) {
            now = .zero + .milliseconds(10) * step
            closed(hubMachine.handle(.deadlineReached, now: now), now)
            for rival in rivals {
                var outputs = machines[rival]!.handle(.deadlineReached, now: now)
                if step % 100 == 0 {
                    outputs += machines[rival]!.handle(
                        .sighted(hub, sighting(cost: needy ? 96 : 96)), now: now)
                }
                for case .invite(hub, let attempt) in outputs {
                    handshakes += 1
                    token += 1
                    let channel = ChannelToken(value: token)
                    let seeks = machines[rival]!.isShortcut(hub)
                    let request = PlaceRequest(
                        link: ethernet, hasRoute: true, seeksShortcut: seeks && !needy,
                        neighbourCount: machines[rival]!.connectedCount)
                    let reaches = hubMachine.connectedPeers.map {
                        NeighbourReach($0, others: 5, leadsToCollector: true)
                    }
                    let answers = hubMachine.handle(
                        .asked(channel, by: rival, request, reaches: reaches), now: now)
                    closed(answers, now)
                    for case .decided(_, let decision) in answers {
                        if decision.verdict == .accepted {
                            tokens[rival] = channel
                            closed(
                                hubMachine.handle(
                                    .admitted(
                                        channel, peer: rival, run: RunID(value: 1),
                                        attempt: attempt, weAreClient: false), now: now), now)
                            _ = machines[rival]!.handle(
                                .admitted(
                                    channel, peer: hub, run: RunID(value: 1), attempt: attempt,
                                    weAreClient: true), now: now)
                        } else {
                            _ = machines[rival]!.handle(
                                .declined(hub, attempt, retryAfter: decision.retryAfter), now: now)
                        }
                    }
                }
            }
        }
        return (drops, handshakes)
    }

    @Test(arguments: [9, 12, 20])
    func shortcutSeekersDoNotPushEachOtherOutForEver(_ count: Int) {
        let result = Self.rivalry(rivals: count, needy: false, seconds: 60)
        #expect(result.drops <= 40, "\(result)")
    }

    @Test(arguments: [9, 12])
    func endsOfChainsDoNotPushEachOtherOutForEver(_ count: Int) {
        let result = Self.rivalry(rivals: count, needy: true, seconds: 60)
        #expect(result.drops <= 40, "\(result)")
    }

    /// Twelve neighbours came by beacons that lied or were stale, and none leads to a collector.
    @Test func whoHasNoWayTakesOneThatLeadsHoweverManyThereAre() throws {
        var machine = Self.connected(12, cost: nil)
        let sighting = InvitationMachine.Input.sighted(Self.candidate, Self.sighting(cost: 96))
        #expect(Self.invited(machine.handle(sighting, now: .zero)) == [])
        let due = try #require(machine.nextDeadline)
        #expect(machine.handle(.deadlineReached, now: due) == [.tooMany])
        let reaches = (0..<12).map {
            NeighbourReach(Self.neighbour($0), others: 3, leadsToCollector: false)
        }
        let outputs = machine.handle(.weighed(reaches), now: due)
        #expect(Self.invited(outputs) == [Self.candidate])
    }

    /// All neighbours are on Bluetooth, and somebody is heard on Wi-Fi.
    @Test func wifiIsCoveredBesideBluetooth() {
        var machine = Self.connected(4, cost: 600, links: [])
        let outputs = machine.handle(
            .sighted(Self.candidate, Self.sighting(cost: nil, links: [Self.wifi])), now: .zero)
        #expect(Self.invited(outputs) == [Self.candidate])
    }

    /// Somebody on a bare link who never answers keeps a stranded node from the one with a way.
    @Test func whoHasNoWayLooksForOneWhateverIsOnABareLink() {
        var machine = Self.connected(4, cost: nil)
        // It does not answer, and has no way itself.
        _ = machine.handle(
            .sighted(PeerID(high: 99, low: 0), Self.sighting(cost: nil, links: [Self.wifi])),
            now: .zero)
        let outputs = machine.handle(
            .sighted(Self.candidate, Self.sighting(cost: 96)), now: .zero)
        #expect(Self.invited(outputs) == [Self.candidate])
    }

    /// The invitation over the bare link failed once; then the other side asks.
    @Test func aLinkIsBareWhileItsOnlyPeerBacksOff() {
        var machine = Self.connected(8, cost: 96)
        let outputs = machine.handle(
            .sighted(Self.candidate, Self.sighting(cost: nil, links: [Self.wifi])), now: .zero)
        for case .invite(Self.candidate, let attempt) in outputs {
            _ = machine.handle(.failed(Self.candidate, attempt), now: .zero)
        }
        let request = PlaceRequest(
            link: Self.wifi, hasRoute: true, seeksShortcut: false, neighbourCount: 5)
        let reaches = (0..<8).map {
            NeighbourReach(Self.neighbour($0), others: 5, leadsToCollector: false)
        }
        let answers = machine.handle(
            .asked(ChannelToken(value: 99), by: Self.candidate, request, reaches: reaches),
            now: .zero)
        for case .decided(_, let decision) in answers { #expect(decision.verdict == .accepted) }
    }

    /// Not our way at this moment (its link is suspect or dearer than the way over another).
    @Test func aCollectorIsNotTrimmed() throws {
        var machine = Self.connected(10, cost: 96, collectors: 1)
        let due = try #require(machine.nextDeadline)
        _ = machine.handle(.deadlineReached, now: due)
        var reaches = (0..<10).map {
            NeighbourReach(
                Self.neighbour($0), others: 5, leadsToCollector: true, isOurWay: $0 == 5)
        }
        reaches[0].others = 100
        let outputs = machine.handle(.weighed(reaches), now: due)
        #expect(!outputs.contains(.close(ChannelToken(value: 0), .dropped)))
        #expect(machine.channel(with: Self.neighbour(0)) != nil)
    }

    /// Whoever says that it is full is not asked for a shortcut, by a full one neither.
    @Test func whoIsFullIsNotInvitedForABareWish() {
        var machine = Self.connected(4, cost: 1_000)
        var handshakes = 0
        func decline(_ outputs: [InvitationMachine.Output], _ now: Instant) {
            for case .invite(let peer, let attempt) in outputs {
                handshakes += 1
                decline(
                    machine.handle(
                        .declined(peer, attempt, retryAfter: .seconds(30)), now: now), now)
            }
        }
        for second in 0..<600 {
            let now = Instant.zero + .seconds(second)
            for number in 0..<50 {
                let peer = PeerID(high: UInt64(200 + number), low: 0)
                decline(
                    machine.handle(
                        .sighted(peer, Self.sighting(cost: 96)), now: now), now)
            }
            decline(machine.handle(.deadlineReached, now: now), now)
        }
        #expect(handshakes < 100, "in ten minutes: \(handshakes)")
    }

    /// A way that flaps between none and a dear one is never believed to be dear.
    @Test func aFlappingDearWayCountsAtLast() {
        var way = SettledCost(100)
        for step in 0..<200 {
            let now = Instant.zero + .milliseconds(400) * step
            way.change(to: step % 2 == 0 ? nil : 2_000, now: now)
            _ = way.deadlineReached(now)
        }
        #expect(way.cost != 100)
    }

    /// More collectors and viewers than the urgent share are asked for by one neighbour: where as
    /// many plain ones would be passed on.
    @Test func urgentRequestsFindAtLeastTheRoomOfPlainOnes() {
        func passed(isUrgent: Bool) -> Int {
            var requests = SeqnoRequests()
            return (0..<40).count {
                requests.add(
                    PeerID(high: UInt64($0), low: 9), seqno: 1, hopLimit: 63, isUrgent: isUrgent,
                    isToHopAlone: false,
                    by: Self.own, now: .zero)
            }
        }
        #expect(passed(isUrgent: true) >= passed(isUrgent: false))
    }

    /// Nine neighbours over lossy links beside twenty more like them that say that they are a
    /// shortcut, and are not when they are there.
    @Test func nodesThatAreNoShortcutAreNotTriedForEver() {
        var machine = InvitationMachine(own: Self.own, role: .agent, seed: 3)
        var handshakes = 0
        var token: UInt32 = 0
        var now = Instant.zero
        _ = machine.handle(.costToCollector(1_000), now: now)
        func serve(_ outputs: [InvitationMachine.Output]) {
            var todo = outputs
            while !todo.isEmpty {
                let all = todo
                todo = []
                for output in all {
                    switch output {
                    case .invite(let peer, let attempt):
                        handshakes += 1
                        token += 1
                        todo += machine.handle(
                            .admitted(
                                ChannelToken(value: token), peer: peer, run: RunID(value: 1),
                                attempt: attempt, weAreClient: true), now: now)
                    case .tooMany:
                        let reaches = machine.connectedPeers.map {
                            NeighbourReach($0, others: 5, leadsToCollector: true)
                        }
                        todo += machine.handle(.weighed(reaches), now: now)
                    default: break
                    }
                }
            }
        }
        for step in 0..<6_000 {
            now = .zero + .milliseconds(100) * step
            if step % 10 == 0 {
                for number in 0..<30 {
                    serve(
                        machine.handle(
                            .sighted(Self.neighbour(number), Self.sighting(cost: 300)), now: now))
                }
            }
            serve(machine.handle(.deadlineReached, now: now))
        }
        #expect(handshakes < 60, "in ten minutes: \(handshakes)")
    }

    /// Thirty ask at once over a link on which we have nobody: each is taken as the first there.
    @Test func aBareLinkIsNoDoorForThirty() {
        var machine = Self.connected(8, cost: 96)
        let reaches = (0..<8).map {
            NeighbourReach(Self.neighbour($0), others: 5, leadsToCollector: false)
        }
        let askers = (0..<30).map { PeerID(high: UInt64(300 + $0), low: 0) }
        for asker in askers {
            _ = machine.handle(
                .sighted(asker, Self.sighting(cost: nil, links: [Self.wifi])), now: .zero)
        }
        let request = PlaceRequest(
            link: Self.wifi, hasRoute: true, seeksShortcut: false, neighbourCount: 5)
        var accepted: [(PeerID, ChannelToken)] = []
        for (number, asker) in askers.enumerated() {
            let token = ChannelToken(value: UInt32(1_000 + number))
            let outputs = machine.handle(
                .asked(token, by: asker, request, reaches: reaches), now: .zero)
            for case .decided(_, let decision) in outputs where decision.verdict == .accepted {
                accepted.append((asker, token))
            }
        }
        for (asker, token) in accepted {
            _ = machine.handle(
                .admitted(token, peer: asker, run: RunID(value: 1), attempt: 1, weAreClient: false),
                now: .zero)
        }
        #expect(machine.connectedCount <= 12)
    }
}
