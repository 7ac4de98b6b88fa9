import Collector
import NearbyCore
import Telemetry
import Testing

@testable import Fleet

struct FleetLedgerTests {
    private let peer = PeerID(high: 1, low: 1)
    private var ledger = FleetLedger()

    private func birth(
        run: UInt64 = 1, number: UInt16 = 1, _ channels: [(String, Unit)],
        previous: UInt64? = nil
    ) throws -> Birth {
        Birth(
            number: number, run: RunID(value: run), boot: BootID(high: 1, low: 1),
            node: try NodeDescription(
                name: "north", labels: [Label(key: "site", value: "a")], board: "Pi"),
            channels: try channels.enumerated().map { index, channel in
                let description = try #require(
                    ChannelDescription(name: channel.0, unit: channel.1, scale: -1))
                return Channel(number: UInt16(index + 1), description: description)
            }, previous: previous.map { PreviousRun(run: RunID(value: $0), lastSequence: 1) })
    }

    private func delivery(
        _ birth: Birth, _ values: [(channel: UInt16, value: Int64)], from sequence: UInt64 = 1,
        at second: Int64 = 1
    ) -> Delivery {
        let readings = values.enumerated().map { index, entry in
            Reading(
                sequence: sequence + UInt64(index), channel: entry.channel,
                time: Instant(nanoseconds: second * 1_000_000_000),
                outcome: .value(DecimalValue(coefficient: entry.value, exponent: -1)))
        }
        return Delivery(
            peer: peer, birth: birth, readings: readings,
            arrival: Instant(nanoseconds: second * 1_000_000_000), hops: 2, missing: 3)
    }

    private func snapshot(
        _ ledger: FleetLedger, _ sightings: [FleetSighting] = [], at second: Int64 = 10
    ) -> FleetSnapshot {
        ledger.snapshot(
            of: FleetCollector(), sightings, now: Instant(nanoseconds: second * 1_000_000_000))
    }

    @Test mutating func theNewestReadingOfEachChannelShows() throws {
        let birth = try birth([("b", .celsius), ("a", .celsius), ("never", .none)])
        ledger.apply(delivery(birth, [(1, 210), (2, 300)]), unixOffset: .seconds(100))
        ledger.apply(delivery(birth, [(1, 220)], from: 5, at: 4), unixOffset: .seconds(100))
        // Late: it changes nothing.
        ledger.apply(delivery(birth, [(1, 190)], from: 3, at: 2), unixOffset: .seconds(100))
        let node = try #require(snapshot(ledger).nodes.first)
        #expect(node.channels.map(\.name) == ["a", "b"])
        #expect(node.channels.map(\.last.value?.description) == ["30.0", "22.0"])
        #expect(node.channels.map(\.utc) == [101_000_000_000, 104_000_000_000])
        #expect(node.readingCount == 4)
        #expect(node.lostCount == 3)
        #expect(node.hops == 2)
        #expect(node.age == .seconds(6))
        #expect(node.labels == [Label(key: "site", value: "a")])
        #expect(node.board == "Pi")
    }

    @Test mutating func aNewRunTakesOverAndTheOldOneDoesNotComeBack() throws {
        let old = try birth(run: 1, [("a", .celsius)])
        let new = try birth(run: 2, [("c", .celsius)], previous: 1)
        ledger.apply(delivery(old, [(1, 1)]), unixOffset: .zero)
        ledger.apply(delivery(new, [(1, 2)], at: 5), unixOffset: .zero)
        ledger.apply(delivery(old, [(1, 3)], from: 9, at: 3), unixOffset: .zero)
        let node = try #require(snapshot(ledger).nodes.first)
        #expect(node.channels.map(\.name) == ["c"])
        #expect(node.readingCount == 3)
        #expect(node.lostCount == 6)
    }

    @Test mutating func aLaterBirthOfTheRunKeepsWhatIsKnown() throws {
        let first = try birth(number: 1, [("a", .celsius)])
        let second = try birth(number: 2, [("a", .celsius), ("b", .celsius)])
        ledger.apply(delivery(first, [(1, 1)]), unixOffset: .zero)
        ledger.apply(delivery(second, [(2, 2)], from: 2, at: 5), unixOffset: .zero)
        let node = try #require(snapshot(ledger).nodes.first)
        #expect(node.channels.map(\.name) == ["a", "b"])
    }

    @Test mutating func wordsChangeNamesAndValuesAlsoLater() throws {
        let birth = try birth([("t", .celsius), ("u", .celsius)])
        ledger.apply(delivery(birth, [(1, 215), (2, 1)]), unixOffset: .zero)
        var words = AgentWords(node: "north")
        words.rename = "greenhouse"
        var channel = ChannelWords(channel: "t")
        channel.rename = "air"
        channel.unit = Unit("K")
        words.channels = [channel]
        #expect(ledger.change(words: FleetWords([words])) == [])
        let node = try #require(snapshot(ledger).nodes.first)
        #expect(node.name == "greenhouse")
        #expect(node.storedName == "north")
        #expect(node.channels.map(\.name) == ["air", "u"])
        #expect(node.channels[0].storedName == "t")
        #expect(node.channels[0].last.value?.description == "294.65")
        channel.rename = "u"
        words.channels = [channel]
        let faults = ledger.change(words: FleetWords([words]))
        #expect(faults.count == 1)
        #expect(faults.first?.contains("two channels of north are called u") == true)
    }

    @Test mutating func wholeNetworkIsListedByName() throws {
        let birth = try birth([("a", .celsius)])
        ledger.apply(delivery(birth, [(1, 1)]), unixOffset: .zero)
        var relay = FleetSighting(peer: PeerID(high: 2, low: 2), role: "relay")
        relay.name = "attic"
        relay.isOnline = true
        relay.link = "wifi"
        var own = FleetSighting(peer: peer, role: "agent")
        own.via = relay.peer
        own.isOnline = true
        let nodes = snapshot(ledger, [own, relay]).nodes
        #expect(nodes.map(\.name) == ["attic", "north"])
        #expect(nodes.map(\.role) == ["relay", "agent"])
        #expect(nodes[0].link == "wifi")
        #expect(nodes[1].via == relay.peer)
        #expect(nodes[1].isOnline)
    }

    @Test mutating func batteryAndSignalAreThoseOfTheBoard() throws {
        let birth = try birth([
            ("net.wlan0.signal", Unit("dBm") ?? .none), ("tag.signal", Unit("dBm") ?? .none),
            ("tag.battery", .percent), ("power.BAT0.level", Unit("%EL") ?? .none),
        ])
        ledger.apply(
            delivery(birth, [(1, -610), (2, -900), (3, 110), (4, 870)]), unixOffset: .zero)
        let node = try #require(snapshot(ledger).nodes.first)
        #expect(node.signal == -61)
        #expect(node.battery == 87)
    }

    private func recalled(
        _ birth: Birth, peer: PeerID? = nil, _ value: Int64, at utc: Int64
    ) -> RecalledNode {
        var node = RecalledNode(peer: peer ?? self.peer, birth: birth)
        node.newest = [
            RecalledNode.Newest(
                channel: 1, sequence: 7,
                outcome: .value(DecimalValue(coefficient: value, exponent: -1)),
                utc: utc * 1_000_000_000, hops: 2)
        ]
        return node
    }

    @Test mutating func whoWasHeardBeforeThisStartShowsWithItsAgeUntilItIsHeardAgain() throws {
        let birth = try birth([("a", .celsius), ("b", .celsius)])
        #expect(ledger.recall([recalled(birth, 215, at: 400)]) == [])
        var collector = FleetCollector()
        collector.utc = 1_000_000_000_000
        let now = Instant(nanoseconds: 10_000_000_000)
        var node = try #require(ledger.snapshot(of: collector, [], now: now).nodes.first)
        #expect(node.name == "north" && !node.isOnline)
        #expect(node.age == .seconds(600))
        #expect(node.channels.map(\.name) == ["a"])
        #expect(node.channels.first?.last.value?.description == "21.5")
        #expect(node.channels.first?.utc == 400_000_000_000)
        let former = ledger.recalledNodes(utc: collector.utc, now)
        #expect(former.map(\.age) == [.seconds(600)])
        ledger.apply(delivery(birth, [(2, 300)], from: 9, at: 4), unixOffset: .seconds(990))
        node = try #require(ledger.snapshot(of: collector, [], now: now).nodes.first)
        #expect(ledger.recalledNodes(utc: collector.utc, now).isEmpty)
        #expect(node.age == .seconds(6))
        #expect(node.channels.map(\.name) == ["a", "b"])
        // Who has been heard since is known better than the store knew it.
        _ = ledger.recall([recalled(birth, 999, at: 500)])
        node = try #require(ledger.snapshot(of: collector, [], now: now).nodes.first)
        #expect(node.channels.first?.last.value?.description == "21.5")
    }

    @Test mutating func whoWasHeardBeforeThisStartMakesRoom() throws {
        let birth = try birth([("a", .celsius)])
        let nodes = (1...(Limits.fleetAgentsMax + 5)).map { (number: Int) -> RecalledNode in
            let peer = PeerID(high: UInt64(number + 10), low: 0)
            return recalled(birth, peer: peer, 1, at: Int64(2_000 - number))
        }
        #expect(ledger.recall(nodes) == [])
        #expect(snapshot(ledger).nodes.count == Limits.fleetAgentsMax)
        _ = ledger.apply(birth, of: peer, now: Instant(nanoseconds: 1))
        let peers = Set(snapshot(ledger).nodes.map(\.peer))
        #expect(peers.count == Limits.fleetAgentsMax)
        #expect(peers.contains(peer))
        // That which was heard longest ago went.
        #expect(!peers.contains(PeerID(high: UInt64(Limits.fleetAgentsMax + 10), low: 0)))
    }

    @Test mutating func theAgentThatWasSilentLongestGoes() throws {
        let birth = try birth([("a", .celsius)])
        for number in 1...(Limits.fleetAgentsMax + 1) {
            _ = ledger.apply(
                birth, of: PeerID(high: UInt64(number), low: 0),
                now: Instant(nanoseconds: Int64(number)))
        }
        let nodes = snapshot(ledger).nodes
        #expect(nodes.count == Limits.fleetAgentsMax)
        #expect(!nodes.contains { $0.peer.description == PeerID(high: 1, low: 0).description })
    }

    @Test func aViewerIsNotCountedAndLeavesNothingBehind() {
        var viewer = FleetSighting(peer: PeerID(high: 7, low: 7), role: "viewer")
        var relay = FleetSighting(peer: PeerID(high: 2, low: 2), role: "relay")
        viewer.isOnline = true
        relay.isOnline = true
        let during = snapshot(ledger, [viewer, relay])
        #expect(during.nodes.count == 2)
        #expect(during.countedNodes.map(\.peer) == [relay.peer])
        viewer.isOnline = false
        relay.isOnline = false
        let after = snapshot(ledger, [viewer, relay])
        #expect(after.nodes.map(\.peer) == [relay.peer])
        #expect(after.countedNodes.count == 1)
    }

    @Test mutating func channelsBeyondTheRoomAreCounted() throws {
        let birth = try birth((0..<256).map { ("c\($0)", .none) })
        for number in 1...(Limits.fleetChannelsMax / 256) {
            _ = ledger.apply(
                birth, of: PeerID(high: UInt64(number), low: 0), now: Instant(nanoseconds: 1))
        }
        #expect(ledger.hiddenChannelCount == 0)
        _ = ledger.apply(birth, of: PeerID(high: 0, low: 1), now: Instant(nanoseconds: 1))
        #expect(ledger.hiddenChannelCount == 256)
    }
}
