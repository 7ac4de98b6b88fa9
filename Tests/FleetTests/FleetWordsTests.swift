import Collector
import NearbyCore
import Telemetry
import Testing

@testable import Fleet

struct FleetWordsTests {
    private let peer = PeerID(high: 0x1234, low: 5)

    private func words(_ change: (inout AgentWords) -> Void) -> FleetWords {
        var words = AgentWords(node: "old-*")
        change(&words)
        return FleetWords([words])
    }

    private func channel(
        _ words: FleetWords, _ name: String = "t1", unit: Unit = .none, scale: Int8 = 0
    ) -> ShownChannel {
        words.channel(of: peer, named: "old-1", name, unit, scale: scale)
    }

    private func decimal(_ text: String) throws -> DecimalValue { try DecimalValue(parsing: text) }

    @Test func aNodeIsRenamedByNameByPatternAndByPeerID() {
        for node in ["old-1", "old-*", peer.description] {
            var agent = AgentWords(node: node)
            agent.rename = "greenhouse"
            let words = FleetWords([agent])
            #expect(words.name(of: peer, named: "old-1") == "greenhouse")
            #expect(words.name(of: PeerID(high: 9, low: 9), named: "new-1") == "new-1")
        }
    }

    @Test func theFirstEntryThatSaysSomethingHolds() {
        var site = AgentWords(node: "*")
        site.labels = [Label(key: "floor", value: "1"), Label(key: "site", value: "north")]
        var board = AgentWords(node: "old-1")
        board.rename = "greenhouse"
        board.labels = [Label(key: "floor", value: "2")]
        let own = [Label(key: "floor", value: "9"), Label(key: "owner", value: "me")]
        let first = FleetWords([board, site])
        #expect(first.name(of: peer, named: "old-1") == "greenhouse")
        let labels = first.labels(of: peer, named: "old-1", own)
        #expect(
            labels == [
                Label(key: "floor", value: "2"), Label(key: "owner", value: "me"),
                Label(key: "site", value: "north"),
            ])
        let second = FleetWords([site, board]).labels(of: peer, named: "old-1", own)
        #expect(second.first == Label(key: "floor", value: "1"))
    }

    @Test func whatNobodySpeaksOfStaysAsItIs() throws {
        let words = words { $0.channels = [ChannelWords(channel: "other")] }
        let shown = channel(words, unit: .pascal, scale: -1)
        #expect(shown == ShownChannel(name: "t1", unit: .pascal, scale: -1))
        let value = try decimal("21.50")
        #expect(shown.map(Outcome.value(value)) == .value(value))
        #expect(shown.map.isIdentity)
    }

    @Test func calibrationIsExactInDecimals() throws {
        var channelWords = ChannelWords(channel: "t?")
        channelWords.rename = "air.temperature"
        channelWords.scale = try decimal("1.01")
        channelWords.offset = try decimal("-0.3")
        let shown = channel(words { $0.channels = [channelWords] }, unit: .celsius, scale: -1)
        #expect(shown.name == "air.temperature")
        #expect(shown.unit == .celsius)
        #expect(shown.scale == -3)
        let result = try #require(shown.map(try decimal("21.5")))
        #expect(result.description == "21.415")
        #expect(shown.map(Outcome.null(.timeout)) == .null(.timeout))
    }

    @Test func aUnitIsChangedAndAnUnknownOneIsTold() throws {
        var hecto = ChannelWords(channel: "t1")
        hecto.unit = Unit("hPa")
        let changed = channel(words { $0.channels = [hecto] }, unit: .pascal)
        #expect(changed.unit.name == "hPa")
        #expect(changed.scale == -2)
        let sent = try decimal("101325")
        let value = try #require(changed.map(sent))
        #expect(value.description == "1013.25")
        let said = channel(words { $0.channels = [hecto] })
        #expect(said.unit.name == "hPa")
        let three = try decimal("3")
        #expect(said.map(three) == three)
    }

    @Test func aWrongUnitOfTheAgentIsCorrectedBeforeTheChange() throws {
        var fahrenheit = ChannelWords(channel: "t1")
        fahrenheit.sentIn = Unit("[degF]")
        fahrenheit.unit = .celsius
        let shown = channel(words { $0.channels = [fahrenheit] }, unit: .celsius, scale: -1)
        let value = try #require(shown.map(try decimal("212.0")))
        #expect(value == DecimalValue(coefficient: 100))
        #expect(shown.unit == .celsius)
        #expect(abs(shown.map(212.0) - 100) < 1e-9)
    }

    @Test func aUnitThatNothingLeadsToLeavesValuesAlone() throws {
        var wrong = ChannelWords(channel: "t1")
        wrong.unit = .volt
        let shown = channel(words { $0.channels = [wrong] }, unit: .celsius)
        #expect(shown.unit == .celsius)
        #expect(shown.map.unreachable == .volt)
    }

    @Test func whatDoesNotFitIsOutOfRange() throws {
        var huge = ChannelWords(channel: "t1")
        huge.offset = DecimalValue(coefficient: 1, exponent: -14)
        let shown = channel(words { $0.channels = [huge] })
        let value = Outcome.value(DecimalValue(coefficient: .max, exponent: 100))
        #expect(shown.map(value) == .null(.outOfRange))
    }
}

struct ValueMapTests {
    private let statistics = Statistics(
        count: 3, nullCount: 1, min: DecimalValue(coefficient: 1),
        max: DecimalValue(coefficient: 3), mean: 2, standardDeviation: 1, p50: 2, p95: 3,
        areQuantilesExact: true)

    @Test func statisticsGoWithTheirValues() {
        let map = ValueMap(
            scale: DecimalValue(coefficient: 2), offset: DecimalValue(coefficient: 10),
            from: .volt, to: Unit("mV"))
        let result = map(statistics)
        #expect(result.min == DecimalValue(coefficient: 12_000))
        #expect(result.max == DecimalValue(coefficient: 16_000))
        #expect(result.mean == 14_000)
        #expect(result.standardDeviation == 2_000)
        #expect(result.p95 == 16_000)
        #expect(result.count == 3)
    }

    /// 3 · 0.1 is not 0.3 in binary floating point.
    @Test func meansAndQuantilesStayAmongTheValues() {
        let three = DecimalValue(coefficient: 3)
        let same = Statistics(
            count: 3, nullCount: 0, min: three, max: three, mean: 3, standardDeviation: 0, p50: 3,
            p95: 3, areQuantilesExact: true)
        let scale = DecimalValue(coefficient: 1, exponent: -1)
        let result = ValueMap(scale: scale, offset: nil, from: .volt, to: nil)(same)
        #expect(result.max?.double == 0.3)
        #expect([result.mean, result.p50, result.p95] == [0.3, 0.3, 0.3])
    }

    @Test func aTurnedScaleTurnsTheBoundsAndKnowsNoUpperQuantile() {
        let map = ValueMap(
            scale: DecimalValue(coefficient: -1), offset: nil, from: .volt, to: nil)
        let result = map(statistics)
        #expect(result.min == DecimalValue(coefficient: -3))
        #expect(result.max == DecimalValue(coefficient: -1))
        #expect(result.standardDeviation == 1)
        #expect(result.p95 == nil)
    }
}
