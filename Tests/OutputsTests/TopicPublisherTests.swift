import Fleet
import NearbyCore
import Telemetry
import Testing

@testable import Outputs

struct TopicPublisherTests {
    private func publisher(_ change: (inout TopicPublisher.Options) -> Void = { _ in })
        -> TopicPublisher
    {
        var options = TopicPublisher.Options()
        options.network = "lab"
        options.collector = Plant.collector
        change(&options)
        return TopicPublisher(options)
    }

    @Test func aReadingIsARetainedObjectOnItsChannelsTopic() throws {
        var publisher = publisher()
        let outputs = publisher.messages(of: Plant.batch([(0, Plant.value(2_150))]))
        let message = try #require(outputs.messages.first)
        #expect(outputs.count == 1 && message.topic == "rivulet/lab/oven/heat")
        #expect(message.isRetained && message.isAcknowledged && message.readingCount == 1)
        #expect(
            String(decoding: message.payload, as: UTF8.self)
                == "{\"time\":\"2025-11-23T08:15:00Z\",\"peer\":\"\(Plant.oven)\","
                + "\"run\":\"000000000000004d\",\"node\":\"oven\","
                + "\"labels\":{\"room\":\"Kitchen\"},\"channel\":\"heat\","
                + "\"unit\":\"Cel\",\"sequence\":1,\"value\":21.50,\"reason\":null,"
                + "\"hops\":1}")
    }

    @Test func aNullHasItsReason() throws {
        var publisher = publisher()
        let batch = Plant.batch([(0, .null(.checksum))])
        let text = publisher.messages(of: batch).text("rivulet/lab/oven/heat")
        #expect(text?.contains(",\"value\":null,\"reason\":\"checksum\",") == true)
        var bare = self.publisher { $0.isJSON = false }
        let outputs = bare.messages(of: Plant.batch([(0, Plant.value(2_150)), (1, .null(.busy))]))
        let texts = outputs.messages.map { String(decoding: $0.payload, as: UTF8.self) }
        #expect(texts == ["21.50", "null"])
    }

    @Test func whatIsOlderThanWhatWasPublishedIsNoNews() {
        var publisher = publisher()
        #expect(publisher.messages(of: Plant.batch([(5, Plant.value(1))])).count == 1)
        let late = Plant.batch([(4, Plant.value(2)), (6, Plant.value(3))], first: 2)
        #expect(publisher.messages(of: late).count == 1)
        // The same again, as after a fault.
        #expect(publisher.messages(of: late).isEmpty)
    }

    @Test func ofHistoryOnlyTheNewestIsPublished() {
        var publisher = publisher()
        var batch = Plant.batch((0..<100).map { ($0, Plant.value($0)) })
        batch.isHistorical = true
        let outputs = publisher.messages(of: batch)
        #expect(outputs.count == 1)
        #expect(outputs.text("rivulet/lab/oven/heat")?.contains("\"value\":0.99,") == true)
    }

    @Test func historyIsNoNewsWhereTheCollectorHasNewer() {
        var publisher = publisher()
        var fleet = Plant.fleet(500, [(Plant.oven, "oven", true, 0)])
        fleet.nodes[0].channels[0].utc = Plant.begin + 500 * Plant.second
        _ = publisher.messages(of: fleet, limit: 100)
        var batch = Plant.batch([(0, Plant.value(1)), (10, Plant.value(2))])
        batch.isHistorical = true
        #expect(publisher.messages(of: batch).isEmpty)
        let newest = Plant.batch([(500, Plant.value(3))], first: 3)
        #expect(publisher.messages(of: newest).count == 1)
    }

    @Test func lateReadingsArePublishedIfTheyAreWantedAndNeverRetained() {
        var publisher = publisher { $0.wantsLate = true }
        _ = publisher.messages(of: Plant.batch([(5, Plant.value(1))]))
        let late = publisher.messages(of: Plant.batch([(4, Plant.value(2))], first: 2)).messages
        #expect(late.map(\.isRetained) == [false])
        let text = late.map { String(decoding: $0.payload, as: UTF8.self) }
        #expect(text.first?.hasSuffix(",\"late\":true}") == true)
    }

    @Test func whatIsDatedAnewIsNewsAgain() {
        var publisher = publisher()
        _ = publisher.messages(of: Plant.batch([(1_000, Plant.value(1))]))
        var batch = Plant.batch([(10, Plant.value(1))])
        batch.redatings = [
            OutputRedating(
                peer: Plant.oven, run: Plant.run,
                formerUTC: Plant.begin...Plant.begin + 2_000 * Plant.second)
        ]
        #expect(publisher.messages(of: batch).count == 1)
    }

    @Test func twoNodesOfOneNameHaveTopicsOfTheirOwnAndAreToldOnce() {
        var publisher = publisher()
        let other = "rivulet/lab/oven~\(Plant.bench.description.prefix(5))/heat"
        _ = publisher.messages(of: Plant.batch([(0, Plant.value(1))]))
        for second: Int64 in 0..<3 {
            let batch = Plant.batch(
                [(second, Plant.value(2))], of: Plant.bench, first: UInt64(second + 1))
            #expect(publisher.messages(of: batch).messages.map(\.topic) == [other])
        }
        #expect(publisher.remarks.count == 1)
        #expect(publisher.remarks.first?.contains("\(Plant.bench)") == true)
    }

    @Test func hostileNamesStayWithinTheirLevel() {
        var publisher = publisher()
        let hostile = "+/#/$SYS\u{1b}[2J<script>'; DROP TABLE x;--{{ states }}"
        let outputs = publisher.messages(
            of: Plant.batch([(0, Plant.value(1))], named: hostile, channel: "../#"))
        for message in outputs.messages {
            #expect(message.topic.split(separator: "/").count == 4)
            #expect(!message.topic.contains { "+#$\u{1b}".contains($0) })
        }
    }

    @Test func nodesAreToldWithWhatIsKnownOfThem() {
        var publisher = publisher()
        let fleet = Plant.fleet(60, [(Plant.oven, "oven", true, 2)])
        let outputs = publisher.messages(of: fleet, limit: 100)
        #expect(outputs.text("rivulet/lab/oven/$availability") == "online")
        let text = outputs.text("rivulet/lab/oven/$node") ?? ""
        #expect(
            text.hasPrefix(
                "{\"peer\":\"\(Plant.oven)\",\"seen\":1763885758,"
                    + "\"last_seen\":\"2025-11-23T08:15:58Z\",\"name\":\"oven\""))
        #expect(RememberedNode(parsing: Array(text.utf8))?.peer == Plant.oven)
        #expect(RememberedNode(parsing: Array(text.utf8))?.seen == 1_763_885_758)
        // Nothing has changed.
        #expect(publisher.messages(of: fleet, limit: 100).isEmpty)
        let gone = Plant.fleet(65, [(Plant.oven, "oven", false, 7)])
        #expect(
            publisher.messages(of: gone, limit: 100).text("rivulet/lab/oven/$availability")
                == "offline")
    }

    @Test func aNewConnectionIsToldEverythingAgain() {
        var publisher = publisher { $0.homeAssistant = "homeassistant" }
        let fleet = Plant.fleet(60, [(Plant.oven, "oven", true, 2)])
        let first = publisher.messages(of: fleet, limit: 100)
        #expect(publisher.messages(of: fleet, limit: 100).isEmpty)
        publisher.connect()
        #expect(publisher.messages(of: fleet, limit: 100) == first)
        publisher.announceAgain()
        let again = publisher.messages(of: fleet, limit: 100).messages
        #expect(!again.isEmpty && again.allSatisfy { $0.topic.hasSuffix("/config") })
    }

    @Test func damagedMemoryIsIgnored() {
        let good = "{\"peer\":\"\(Plant.oven)\",\"seen\":5,"
        for count in 0..<good.utf8.count - 1 {
            _ = RememberedNode(parsing: Array(good.utf8.prefix(count)))
        }
        for wrong in ["", "online", "{\"peer\":\"x\",\"seen\":1,", good + "{"].dropLast() {
            #expect(RememberedNode(parsing: Array(wrong.utf8)) == nil)
        }
        var publisher = publisher()
        for topic in ["", "rivulet/lab", "rivulet/lab//$node", "rivulet/lab/a/b/c/$node", "x/y/z"] {
            publisher.remember(topic, Array(good.utf8))
        }
        #expect(publisher.remarks.isEmpty)
    }

    /// To Swift a slash with a mark behind it is another character; to the broker it is a slash.
    @Test func aTopicOfThreeLevelsIsNoNodesTopicWhateverStandsBehindItsSlash() {
        var publisher = publisher()
        publisher.remember(
            "rivulet/lab/oven/\u{301}x/$node",
            Array("{\"peer\":\"\(Plant.oven)\",\"seen\":9,".utf8))
        let fleet = Plant.fleet(60, [(Plant.oven, "stove", true, 2)])
        #expect(publisher.messages(of: fleet, limit: 100).purges.isEmpty)
    }

    @Test func aRenamedNodeTakesItsTopicsWithIt() {
        var publisher = publisher()
        publisher.remember(
            "rivulet/lab/oven/$node", Array("{\"peer\":\"\(Plant.oven)\",\"seen\":9,".utf8))
        let fleet = Plant.fleet(60, [(Plant.oven, "stove", true, 2)])
        let outputs = publisher.messages(of: fleet, limit: 100)
        #expect(outputs.purges == [["rivulet/lab/oven/#"]])
        #expect(outputs.text("rivulet/lab/stove/$availability") == "online")
    }

    @Test func readingsFromBeforeARenameMoveNoTopics() {
        var publisher = publisher()
        _ = publisher.messages(of: Plant.fleet(60, [(Plant.oven, "stove", true, 2)]), limit: 100)
        var batch = Plant.batch([(5, Plant.value(1))])
        batch.isHistorical = true
        #expect(publisher.messages(of: batch).purges.isEmpty)
    }

    @Test func aNodeThatWasSilentForLongIsForgotten() {
        var publisher = publisher {
            $0.forget = .seconds(3_600)
            $0.homeAssistant = "homeassistant"
        }
        let seen = Plant.begin / Plant.second
        publisher.remember(
            "rivulet/lab/oven/$node", Array("{\"peer\":\"\(Plant.oven)\",\"seen\":\(seen),".utf8))
        #expect(publisher.messages(of: Plant.fleet(3_600, []), limit: 100).purges.isEmpty)
        let id = Plant.oven.description.filter { $0 != "-" }
        #expect(
            publisher.messages(of: Plant.fleet(3_602, []), limit: 100).purges
                == [["rivulet/lab/oven/#", "homeassistant/sensor/rivulet_\(id)/+/config"]])
        #expect(publisher.messages(of: Plant.fleet(3_603, []), limit: 100).isEmpty)
        // And it is not told anew while the collector still knows of it.
        let still = Plant.fleet(3_604, [(Plant.oven, "oven", false, 3_700)])
        #expect(publisher.messages(of: still, limit: 100).isEmpty)
    }

    /// The board ended while no collector was there: nobody has heard it since the start.
    @Test func aNodeThatOnlyTheBrokerKnowsIsOfflineAfterAMinute() {
        var publisher = publisher()
        publisher.connect()
        let seen = Plant.begin / Plant.second
        let memory: [(PeerID, String, Int64)] = [
            (Plant.oven, "oven", seen - 5), (Plant.bench, "bench", seen - 5),
            // Another collector hears this one.
            (PeerID(high: 7, low: 7), "far", seen + 2),
        ]
        for (peer, name, seen) in memory {
            publisher.remember(
                "rivulet/lab/\(name)/$node", Array("{\"peer\":\"\(peer)\",\"seen\":\(seen),".utf8))
        }
        #expect(publisher.messages(of: FleetSnapshot(), limit: 100).isEmpty)
        #expect(publisher.messages(of: Plant.fleet(3, []), limit: 100).isEmpty)
        let here = [(peer: Plant.bench, name: "bench", isOnline: true, age: Int64(0))]
        let first = publisher.messages(of: Plant.fleet(30, here), limit: 100)
        #expect(first.text("rivulet/lab/bench/$availability") == "online")
        #expect(publisher.messages(of: Plant.fleet(35, here), limit: 100).messages.isEmpty)
        let later = publisher.messages(of: Plant.fleet(63, here), limit: 100).messages
            .filter { $0.topic.hasSuffix("$availability") }
        #expect(later.map(\.topic) == ["rivulet/lab/oven/$availability"])
        #expect(later.map(\.payload) == [TopicPublisher.word(false)])
        #expect(
            publisher.messages(of: Plant.fleet(64, here), limit: 100).text(
                "rivulet/lab/oven/$availability") == nil)
        let back = here + [(peer: Plant.oven, name: "oven", isOnline: true, age: Int64(0))]
        #expect(
            publisher.messages(of: Plant.fleet(65, back), limit: 100).text(
                "rivulet/lab/oven/$availability") == "online")
    }

    /// It may not have been heard yet.
    @Test func soonAfterAStartNobodyIsOffline() {
        var publisher = publisher()
        let silent = [(peer: Plant.oven, name: "oven", isOnline: false, age: Int64(90))]
        let topic = "rivulet/lab/oven/$availability"
        #expect(publisher.messages(of: Plant.fleet(5, silent), limit: 100).text(topic) == nil)
        #expect(
            publisher.messages(of: Plant.fleet(61, silent), limit: 100).text(topic) == "offline")
    }

    @Test func aChannelThatIsGoneForTenMinutesIsCleared() {
        var publisher = publisher { $0.homeAssistant = "homeassistant" }
        let node = (peer: Plant.oven, name: "oven", isOnline: true, age: Int64(0))
        publisher.remember("rivulet/lab/oven/door%2F1", Array("1".utf8))
        _ = publisher.messages(of: Plant.fleet(0, [node], channels: ["heat", "fan"]), limit: 100)
        _ = publisher.messages(of: Plant.fleet(1, [node]), limit: 100)
        let soon = publisher.messages(of: Plant.fleet(600, [node]), limit: 100).messages
        #expect(soon.allSatisfy { !$0.payload.isEmpty })
        let cleared = publisher.messages(of: Plant.fleet(602, [node]), limit: 100).messages
            .filter(\.payload.isEmpty).map(\.topic)
        #expect(cleared.contains("rivulet/lab/oven/fan"))
        #expect(cleared.contains("rivulet/lab/oven/door%2F1"))
        #expect(cleared.count { $0.hasSuffix("/config") } == 2)
        #expect(!cleared.contains("rivulet/lab/oven/heat"))
    }

    /// Its channel was renamed shortly before the collector's restart.
    @Test func anEntityOfAChannelThatIsNoMoreIsClearedAfterTenMinutes() throws {
        var before = publisher { $0.homeAssistant = "homeassistant" }
        let node = (peer: Plant.oven, name: "oven", isOnline: true, age: Int64(0))
        let told = before.messages(
            of: Plant.fleet(0, [node], channels: ["heat", "old name_1/é"]), limit: 100
        ).messages.filter { $0.topic.hasSuffix("/config") }
        #expect(told.count > 2)
        var publisher = publisher { $0.homeAssistant = "homeassistant" }
        publisher.connect()
        for message in told { publisher.remember(message.topic, message.payload) }
        // Of a board that another collector tells of, and of programs that are none of ours.
        var other = self.publisher {
            $0.homeAssistant = "homeassistant"
            $0.collector = Plant.bench
        }
        let foreign = other.messages(
            of: Plant.fleet(0, [node], channels: ["theirs"]), limit: 100
        ).messages.filter { $0.topic.contains("c-theirs") && $0.topic.hasSuffix("/config") }
        #expect(foreign.count == 1)
        let id = try #require(told.first).topic.split(separator: "/")[2]
        for message in foreign { publisher.remember(message.topic, message.payload) }
        for object in ["c-zigbee", "c-%", "c-_4", "c-_ZZ", "x", ""] {
            publisher.remember("homeassistant/sensor/\(id)/\(object)/config", Array("{}".utf8))
        }
        _ = publisher.messages(of: Plant.fleet(0, [node]), limit: 100)
        let soon = publisher.messages(of: Plant.fleet(600, [node]), limit: 100).messages
        #expect(soon.allSatisfy { !$0.payload.isEmpty })
        let cleared = publisher.messages(of: Plant.fleet(602, [node]), limit: 100).messages
            .filter { $0.payload.isEmpty && $0.topic.hasSuffix("/config") }.map(\.topic)
        #expect(cleared == ["homeassistant/sensor/\(id)/c-old_20name_5F1_2F_C3_A9/config"])
    }

    @Test func onePassIsBounded() {
        var publisher = publisher()
        let nodes = (0..<50).map {
            (peer: PeerID(high: 100 + $0, low: 0), name: "n\($0)", isOnline: true, age: Int64(0))
        }
        let fleet = Plant.fleet(0, nodes)
        let first = publisher.messages(of: fleet, limit: 10)
        #expect((10..<15).contains(first.count))
        var all = first
        for _ in 0..<20 { all += publisher.messages(of: fleet, limit: 10) }
        #expect(all.messages.count { $0.topic.hasSuffix("$availability") } == 50)
    }

    @Test func alarmsArePublishedWhenTheyChange() {
        var publisher = publisher()
        var fleet = FleetSnapshot()
        var alarm = FleetAlarm(
            name: "too/hot", node: "oven", channel: "heat", condition: "above 30", isActive: true,
            since: Plant.begin, until: nil)
        alarm.peer = Plant.oven
        fleet.alarms = [alarm]
        #expect(publisher.messages(of: fleet, limit: 100).isEmpty)
        fleet.alarms[0].isPublished = true
        let topic = "rivulet/lab/$alarms/too%2Fhot/oven/heat"
        let first = publisher.messages(of: fleet, limit: 100)
        #expect(first.messages.map(\.topic) == [topic] && first.messages[0].isRetained)
        #expect(
            first.text(topic)
                == "{\"collector\":\"\(Plant.collector)\",\"alarm\":\"too/hot\","
                + "\"state\":\"active\",\"node\":\"oven\","
                + "\"peer\":\"\(Plant.oven)\",\"channel\":\"heat\","
                + "\"condition\":\"above 30\",\"since\":\"2025-11-23T08:15:00Z\",\"until\":null}")
        #expect(publisher.messages(of: fleet, limit: 100).isEmpty)
        fleet.alarms[0].isActive = false
        fleet.alarms[0].until = Plant.begin + Plant.second
        #expect(
            publisher.messages(of: fleet, limit: 100).text(topic)?.contains("cleared") == true)
        publisher.connect()
        #expect(publisher.messages(of: fleet, limit: 100).count == 1)
        // It begins again, and the page shows its former end as well.
        fleet.alarms.insert(alarm, at: 0)
        fleet.alarms[0].isPublished = true
        let again = publisher.messages(of: fleet, limit: 100)
        #expect(again.count == 1 && again.text(topic)?.contains("active") == true)
        fleet.alarms = []
        #expect(publisher.messages(of: fleet, limit: 100).messages == [.clearing(topic)])
    }

    /// Rules go while the collector is down, too.
    @Test func alarmsThatTheBrokerStillHasGoUnlessTheyAreAnotherCollectors() {
        var publisher = publisher()
        publisher.connect()
        let root = publisher.root + "/$alarms/hot/"
        func payload(_ collector: PeerID) -> [UInt8] {
            Array("{\"collector\":\"\(collector)\",\"alarm\":\"hot\"}".utf8)
        }
        publisher.remember(root + "oven/heat", payload(Plant.collector))
        publisher.remember(root + "oven", payload(Plant.oven))
        publisher.remember(root + "shed", Array("{\"alarm\":\"hot\"}".utf8))
        #expect(
            publisher.messages(of: FleetSnapshot(), limit: 100).messages
                == [.clearing(root + "oven/heat")])
    }

    @Test func whatThereIsNoRoomForIsCounted() {
        var batch = OutputBatch()
        for number in 1...Limits.channelsPerRunMax + 6 {
            batch.series.append(
                OutputSeries(
                    node: Plant.node(Plant.oven, "oven"), number: UInt16(number),
                    channel: "c\(number)", unit: .none, scale: 0))
            batch.readings.append(
                OutputReading(
                    series: number - 1, sequence: UInt64(number), milliseconds: 0,
                    utc: Plant.begin, outcome: Plant.value(1), hops: 1))
        }
        var publisher = publisher()
        #expect(publisher.messages(of: batch).count == Limits.channelsPerRunMax)
        #expect(publisher.leftOutCount == 6)
        var edge = SparkplugEdge(group: "g", edge: "e", start: 0)
        let messages = edge.messages(of: batch, utc: 0)
        #expect(messages.reduce(0) { $0 + $1.readingCount } == Limits.channelsPerRunMax)
        #expect(edge.leftOutCount == 6)
    }

    /// Of a board whose channels' names change, those that came last are kept.
    @Test func oldNamesMakeRoomForNewOnes() {
        var edge = SparkplugEdge(group: "g", edge: "e", start: 0)
        edge.connect()
        var count = 0
        for number in 1...2 * Limits.channelsPerRunMax {
            var batch = OutputBatch()
            batch.series = [
                OutputSeries(
                    node: Plant.node(Plant.oven, "oven"), number: 1, channel: "c\(number)",
                    unit: .none, scale: 0)
            ]
            batch.readings = [
                OutputReading(
                    series: 0, sequence: UInt64(number), milliseconds: 0,
                    utc: Plant.begin + Int64(number) * 1_000_000_000, outcome: Plant.value(1),
                    hops: 1)
            ]
            count += edge.messages(of: batch, utc: 0).reduce(0) { $0 + $1.readingCount }
        }
        #expect(count == 2 * Limits.channelsPerRunMax && edge.leftOutCount == 0)
    }
}
