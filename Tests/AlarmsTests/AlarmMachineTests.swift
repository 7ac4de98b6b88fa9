import Fleet
import NearbyCore
import Telemetry
import Testing

@testable import Alarms

@Suite struct AlarmMachineTests {
    @Test func firesOnceAndClearsOnce() throws {
        var world = try AlarmWorld([AlarmWorld.rule(AlarmWorld.above(30))])
        #expect(world.read(30, at: 100).isEmpty)
        let fired = world.read(31, at: 101)
        #expect(fired.map(\.isActive) == [true])
        #expect(fired.first?.text == "alarm warm: t of freezer 1 is above 30 °C (31 °C)")
        #expect(world.read(40, at: 102).isEmpty)
        #expect(world.wait(until: 103).isEmpty)
        let cleared = world.read(29, at: 104)
        #expect(cleared.map(\.isActive) == [false])
        #expect(cleared.first?.since == AlarmWorld.time(101))
        #expect(world.read(28, at: 105).isEmpty)
    }

    @Test func below() throws {
        let condition = AlarmRule.Condition.below(
            DecimalValue(coefficient: 5), hysteresis: DecimalValue(coefficient: 2))
        var world = try AlarmWorld([AlarmWorld.rule(condition)])
        #expect(world.read(5, at: 1).isEmpty)
        #expect(world.read(4, at: 2).count == 1)
        #expect(world.read(6, at: 3).isEmpty)
        #expect(world.read(7, at: 4).map(\.isActive) == [false])
    }

    @Test func hysteresisKeepsItFromFlapping() throws {
        var world = try AlarmWorld([AlarmWorld.rule(AlarmWorld.above(30, hysteresis: 2))])
        #expect(world.read(31, at: 1).count == 1)
        for second in 2..<20 {
            let value: Int64 = second % 2 == 0 ? 29 : 31
            #expect(world.read(value, at: Double(second)).isEmpty)
        }
        #expect(world.read(28, at: 21).map(\.isActive) == [false])
    }

    @Test func holdsForItsTimeWithoutFurtherReadings() throws {
        var world = try AlarmWorld([AlarmWorld.rule(AlarmWorld.above(30), for: .seconds(10))])
        #expect(world.read(31, at: 100).isEmpty)
        #expect(world.wait(until: 109).isEmpty)
        let fired = world.wait(until: 110.5)
        #expect(fired.map(\.isActive) == [true])
        #expect(fired.first?.since == AlarmWorld.time(100))
        #expect(fired.first?.condition == "above 30 °C for 10 s")
    }

    @Test func aValueInBetweenBeginsTheTimeAnew() throws {
        var world = try AlarmWorld(
            [AlarmWorld.rule(AlarmWorld.above(30, hysteresis: 5), for: .seconds(10))])
        #expect(world.read(31, at: 100).isEmpty)
        #expect(world.read(30, at: 105).isEmpty)
        #expect(world.read(31, at: 106).isEmpty)
        #expect(world.wait(until: 112).isEmpty)
        #expect(world.wait(until: 117).count == 1)
    }

    @Test func aNullProvesNothing() throws {
        var world = try AlarmWorld([AlarmWorld.rule(AlarmWorld.above(30), for: .seconds(10))])
        #expect(world.read(31, at: 100).isEmpty)
        #expect(world.read(nil, at: 105).isEmpty)
        #expect(world.wait(until: 120).isEmpty)
        #expect(world.read(31, at: 121).isEmpty)
        #expect(world.wait(until: 132).count == 1)
        #expect(world.read(nil, at: 133).isEmpty)
        #expect(world.read(1, at: 134).map(\.isActive) == [false])
    }

    @Test func lateReadingsFireNothingAndClearNothing() throws {
        var world = try AlarmWorld([AlarmWorld.rule(AlarmWorld.above(30))])
        #expect(world.read(99, at: 5_000, measured: 4_900).isEmpty)
        #expect(world.read(31, at: 5_001).count == 1)
        #expect(world.read(1, at: 5_002, measured: 4_990).isEmpty)
        #expect(world.read(1, at: 5_003, measured: 4_000).isEmpty)
    }

    @Test func nullsForLong() throws {
        var world = try AlarmWorld([AlarmWorld.rule(.failing, for: .seconds(5))])
        #expect(world.read(nil, at: 1).isEmpty)
        let fired = world.read(nil, at: 7)
        #expect(
            fired.first?.text == "alarm warm: t of freezer 1 has had no values for 5 s (timeout)")
        let over = world.read(3, at: 8)
        #expect(over.map(\.isActive) == [false])
        #expect(over.first?.text == "alarm warm: t of freezer 1 has values again (3 °C)")
    }

    @Test func silenceOfANodeThatIsNoLongerInReach() throws {
        var world = try AlarmWorld(
            [AlarmWorld.rule(.silent, for: .seconds(30), channel: "*", name: "gone")])
        #expect(world.read(1, at: 100).isEmpty)
        #expect(world.seen(at: 120).isEmpty)
        #expect(world.wait(until: 149).isEmpty)
        let fired = world.wait(until: 151)
        #expect(fired.first?.text == "alarm gone: freezer 1 has been silent for 30 s")
        #expect(fired.first?.since == AlarmWorld.time(120))
        #expect(world.wait(until: 200).isEmpty)
        let over = world.seen(at: 201)
        #expect(over.map(\.isActive) == [false])
        #expect(over.first?.text == "alarm gone: freezer 1 is heard again")
    }

    private static let patterns: [(String, String, Int)] = [
        ("*", "t", 1), ("freezer*", "t", 1), ("fridge*", "t", 0), ("*", "h", 0), ("*", "?", 1),
        (AlarmWorld.peer.description, "t", 1), (PeerID(high: 9, low: 9).description, "t", 0),
    ]

    @Test(arguments: patterns)
    func isOverTheNodesAndChannelsThatItNames(
        _ node: String, _ channel: String, _ count: Int
    ) throws {
        var world = try AlarmWorld(
            [AlarmWorld.rule(AlarmWorld.above(30), node: node, channel: channel)])
        #expect(world.read(31, at: 1).count == count)
    }

    @Test func whatHeldBeforeARestartIsNotToldAgain() throws {
        let rules = [
            AlarmWorld.rule(AlarmWorld.above(30)),
            AlarmWorld.rule(.silent, for: .seconds(30), name: "gone"),
        ]
        var before = try AlarmWorld(rules)
        let fired = before.read(31, at: 100)
        var record = AlarmRecord()
        record.alarms = fired.map {
            AlarmRecord.Alarm($0, targets: [], unixOffset: .seconds(1_000))
        }
        record.nodes = before.machine.knownNodes
        var after = try AlarmWorld(rules)
        let restored = AlarmMachine.Input.restored(
            AlarmRecord(record.bytes), unixOffset: .seconds(1_090))
        let ended = after.machine.handle(restored, now: AlarmWorld.time(20))
        #expect(ended.isEmpty)
        let shown = after.machine.alarms(unixOffset: .seconds(1_090), now: AlarmWorld.time(20))
        #expect(shown.count == 1)
        #expect(after.read(32, at: 21).isEmpty)
        let cleared = after.read(30, at: 22)
        #expect(cleared.map(\.isActive) == [false])
        #expect(cleared.first?.since == AlarmWorld.time(10))
        // The node is known: that it never comes is noticed.
        var never = try AlarmWorld(rules)
        _ = never.machine.handle(
            .restored(record, unixOffset: .zero), now: AlarmWorld.time(20))
        _ = never.wait(until: 20)
        #expect(never.wait(until: 51).map(\.name) == ["gone"])
    }

    /// Of what no rule is about any more, the end is told: otherwise a siren would stay on.
    @Test(arguments: [
        [], [AlarmWorld.rule(AlarmWorld.above(30), name: "other")],
        [AlarmWorld.rule(AlarmWorld.above(30), node: "cellar*")],
        [AlarmWorld.rule(AlarmWorld.above(30), channel: "h")], [AlarmWorld.rule(.silent)],
    ])
    func whatNoRuleIsAboutAnyMoreEnds(_ rules: [AlarmRule]) throws {
        var before = try AlarmWorld([AlarmWorld.rule(AlarmWorld.above(30))])
        var record = AlarmRecord()
        record.alarms = before.read(31, at: 10).map {
            AlarmRecord.Alarm($0, targets: ["a"], unixOffset: .zero)
        }
        #expect(record.alarms.count == 1)
        var after = try AlarmWorld(rules)
        let ended = after.machine.handle(
            .restored(record, unixOffset: .zero), now: AlarmWorld.time(20))
        #expect(ended.count == 1)
        guard case .changed(let change) = try #require(ended.first) else { return }
        #expect(!change.isActive && change.name == "warm" && change.condition == "above 30 °C")
        #expect(
            change.text
                == "alarm warm: t of freezer 1 is no longer watched, so the alarm is cleared")
        #expect(after.machine.alarms(unixOffset: .zero, now: AlarmWorld.time(20)).isEmpty)
    }

    /// The rule is still about it, but the node calls the channel something else now.
    @Test func whatTheNodeHasNoMoreEnds() throws {
        let rules = [AlarmWorld.rule(AlarmWorld.above(30), channel: "*")]
        var before = try AlarmWorld(rules)
        var record = AlarmRecord()
        record.alarms = before.read(31, at: 10).map {
            AlarmRecord.Alarm($0, targets: ["a"], unixOffset: .zero)
        }
        record.alarms[0].notice.channel = "formerly"
        var after = try AlarmWorld(rules)
        let atOnce = after.machine.handle(
            .restored(record, unixOffset: .zero), now: AlarmWorld.time(20))
        #expect(atOnce.isEmpty)
        #expect(after.read(32, at: 21).map(\.channel) == ["t"])
        #expect(after.read(32, at: 620).isEmpty)
        #expect(after.wait(until: 622).isEmpty)
        // Silence proves nothing.
        #expect(after.wait(until: 5_000).isEmpty)
        #expect(after.read(32, at: 5_001).isEmpty)
        let changes = after.wait(until: 5_002)
        #expect(changes.map(\.channel) == ["formerly"])
        #expect(changes.map(\.isActive) == [false])
    }

    /// A sensor takes a while for its first value, and the board does not name its channel before.
    @Test func aRestartOfTheNodeClearsNothing() throws {
        var world = try AlarmWorld([AlarmWorld.rule(AlarmWorld.above(30))])
        #expect(world.read(31, at: 10).map(\.isActive) == [true])
        #expect(try world.restart(at: 20, channels: []).isEmpty)
        #expect(try world.restart(at: 21, channels: ["h"], birth: 2).isEmpty)
        #expect(world.wait(until: 600).isEmpty)
        #expect(try world.restart(at: 601, channels: ["h", "t"], birth: 3).isEmpty)
        #expect(world.read(31, at: 602, channel: 2).isEmpty)
        #expect(world.read(31, at: 1_400, channel: 2).isEmpty)
        #expect(world.wait(until: 1_401).isEmpty)
        #expect(world.read(29, at: 1_402, channel: 2).map(\.isActive) == [false])
    }

    /// It is above the limit all the time.
    @Test func restartsDoNotBeginTheTimeAnew() throws {
        var world = try AlarmWorld([AlarmWorld.rule(AlarmWorld.above(30), for: .seconds(8))])
        #expect(world.read(31, at: 1).isEmpty)
        #expect(try world.restart(at: 6, channels: []).isEmpty)
        #expect(try world.restart(at: 7, channels: ["t"], birth: 2).isEmpty)
        #expect(world.read(31, at: 8).isEmpty)
        #expect(world.read(31, at: 9).map(\.isActive) == [true])
    }

    /// By the words of the configuration, while the board goes on.
    @Test func aChannelThatIsRenamedEndsAtOnce() throws {
        let rules = [AlarmWorld.rule(AlarmWorld.above(30), channel: "*")]
        var world = try AlarmWorld(rules)
        var record = AlarmRecord()
        record.alarms = world.read(31, at: 10).map {
            AlarmRecord.Alarm($0, targets: [], unixOffset: .zero)
        }
        var agent = AgentWords(node: "*")
        agent.channels = [ChannelWords(channel: "t")]
        agent.channels[0].rename = "air"
        let words = FleetWords([agent])
        world.machine = AlarmMachine(rules: rules, words: words, after: world.machine)
        _ = world.machine.handle(
            .restored(record, unixOffset: .zero), now: AlarmWorld.time(11))
        let changes = world.read(31, at: 12)
        #expect(changes.map(\.channel) == ["t", "air"])
        #expect(changes.map(\.isActive) == [false, true])
    }

    /// Another rule was changed.
    @Test func aReloadInterruptsNothing() throws {
        let kept = [
            AlarmWorld.rule(AlarmWorld.above(30), for: .seconds(20)),
            AlarmWorld.rule(.silent, for: .seconds(60), name: "gone"),
            AlarmWorld.rule(AlarmWorld.above(5), channel: "h", name: "wet"),
        ]
        var world = try AlarmWorld([AlarmWorld.rule(AlarmWorld.above(9), name: "x")] + kept)
        _ = world.read(6, at: 1, channel: 2)
        _ = world.read(1, at: 2, channel: 2)
        _ = world.read(31, at: 10)
        world.machine = AlarmMachine(rules: kept, after: world.machine)
        #expect(world.machine.alarms(unixOffset: .zero, now: AlarmWorld.time(11)).count == 1)
        #expect(world.read(32, at: 29).isEmpty)
        #expect(world.read(32, at: 31).map(\.name) == ["warm"])
        #expect(world.wait(until: 80).isEmpty)
        #expect(world.wait(until: 92).map(\.name) == ["gone"])
    }

    @Test func alarmsAreShownUntilADayAfterTheirEnd() throws {
        var world = try AlarmWorld([AlarmWorld.rule(AlarmWorld.above(30))])
        _ = world.read(31, at: 10)
        let offset = Duration.seconds(1_000_000)
        func shown(_ seconds: Double) -> [FleetAlarm] {
            world.machine.alarms(unixOffset: offset, now: AlarmWorld.time(seconds))
        }
        #expect(shown(11).map(\.isActive) == [true])
        #expect(shown(11).first?.since == 1_000_010_000_000_000)
        _ = world.read(1, at: 20)
        #expect(shown(21).map(\.until) == [1_000_020_000_000_000])
        #expect(shown(86_421).isEmpty)
    }

    @Test func manyAlarmsThatEndedAreForgotten() throws {
        var world = try AlarmWorld([AlarmWorld.rule(AlarmWorld.above(30))])
        for second in 0..<1_000 { _ = world.read(second % 2 == 0 ? 31 : 1, at: Double(second)) }
        let shown = world.machine.alarms(unixOffset: .zero, now: AlarmWorld.time(1_000))
        #expect(shown.count == Limits.alarmEndedMax)
    }

    @Test func withoutRulesNothingIsKeptAndNoTimeIsDue() throws {
        var world = try AlarmWorld([])
        #expect(world.read(31, at: 1).isEmpty)
        #expect(world.machine.nextDeadline == nil)
    }

    @Test func recordsKeepHostileNames() throws {
        var world = try AlarmWorld([AlarmWorld.rule(AlarmWorld.above(30))])
        var change = try #require(world.read(31, at: 2).first)
        (change.name, change.node, change.channel) = ("a\tb", "n\n\\", "\\t")
        var record = AlarmRecord()
        record.alarms = [
            AlarmRecord.Alarm(change, targets: ["a\\\n", "b\t"], unixOffset: .seconds(-5))
        ]
        record.nodes = [AlarmRecord.NamedNode(peer: AlarmWorld.peer, name: "\t\n\\n")]
        #expect(AlarmRecord(record.bytes) == record)
        #expect(AlarmRecord(Array("node\tx\ty\nalarm\t1\n\n\u{0}".utf8)) == AlarmRecord())
    }

    @Test func aMessageForAWebhookIsJSON() throws {
        var world = try AlarmWorld([AlarmWorld.rule(AlarmWorld.above(30))], node: "a\"b<")
        let change = try #require(world.read(31, at: 2).first)
        #expect(
            change.json(unixOffset: .seconds(1_700_000_000), collector: "c", network: "n")
                == #"{"alarm":"warm","state":"active","node":"a\"b<","peer":"\#(AlarmWorld.peer)","#
                + #""channel":"t","condition":"above 30 °C","value":"31 °C","#
                + #""since":1700000002000,"time":1700000002000,"collector":"c","network":"n"}"#)
        let environment = change.environment(unixOffset: .zero)
        #expect(environment.contains { $0 == ("RIVULET_ALARM_NODE", "a\"b<") })
        #expect(environment.allSatisfy { !$0.value.contains("\n") && !$0.value.contains("\0") })
    }

    @Test func agentsBeyondTheRoomAreCounted() throws {
        var world = try AlarmWorld([AlarmWorld.rule(AlarmWorld.above(30))])
        for number in 1...UInt64(Limits.alarmNodesMax) { world.hear(number: number) }
        #expect(world.machine.overflowCount == 0)
        world.hear(number: UInt64(Limits.alarmNodesMax) + 1)
        #expect(world.machine.overflowCount == 1)
        #expect(world.read(31, at: 2).isEmpty)
    }
}
