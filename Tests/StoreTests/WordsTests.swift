import Collector
import Fleet
import NearbyCore
import Telemetry
import Testing

@testable import Store

/// A reader in the words of a fleet: the store keeps what came.
@Suite struct WordsTests {
    private var words: FleetWords {
        var agent = AgentWords(node: Fixture.peer(1).description)
        agent.rename = "greenhouse"
        agent.labels = [Label(key: "site", value: "hill")]
        var channel = ChannelWords(channel: "*")
        channel.offset = DecimalValue(coefficient: 1)
        agent.channels = [channel]
        return FleetWords([agent])
    }

    @Test func readingsWindowsRunsAndFiltersGoByThem() throws {
        try withStorePath { path in
            let store = try Store.open(path).store
            var batch = Fixture.batch(
                [Fixture.reading(1, at: 1_000, 5)], births: [try Fixture.birth()])
            batch.clocks = [Fixture.mapping()]
            try store.commit(batch)
            let reader = try StoreReader(path)
            reader.words = words
            var query = StoreQuery()
            for name in ["greenhouse", try Fixture.birth().birth.node.name] {
                query.peers = [.name(Glob(name))]
                var values: [Outcome] = []
                try reader.readings(query) { series, reading in
                    #expect(series.node == "greenhouse")
                    #expect(series.labels.contains(Label(key: "site", value: "hill")))
                    values.append(reading.outcome)
                    return true
                }
                let raw = try store.allReadings().compactMap(\.outcome.value)
                let expected = raw.compactMap { $0.adding(DecimalValue(coefficient: 1)) }
                #expect(values == expected.map(Outcome.value))
                #expect(!values.isEmpty)
                let newest = try reader.newestReadings(query, limit: 5)
                #expect(newest.map(\.reading.outcome) == values)
                var means: [Double?] = []
                try reader.windows(query, width: .seconds(10)) { _, window in
                    means.append(window.statistics.mean)
                    return true
                }
                #expect(means == expected.map(\.double))
                #expect(try reader.runs(query).map(\.node) == ["greenhouse"])
            }
            query.peers = [.name(Glob("elsewhere"))]
            #expect(try reader.series(query).isEmpty)
        }
    }

    @Test func whatIsWantedAsItCameIsFoundByBothNames() throws {
        try withStorePath { path in
            let birth = try Fixture.birth()
            let own = birth.birth.node.name
            var batch = Fixture.batch([Fixture.reading(1, at: 1_000, 5)], births: [birth])
            batch.clocks = [Fixture.mapping()]
            let store = try Store.open(path).store
            try store.commit(batch)
            var agent = AgentWords(node: Fixture.peer(1).description)
            agent.rename = "greenhouse"
            var air = ChannelWords(channel: "air")
            air.rename = "warmth"
            air.offset = DecimalValue(coefficient: 1)
            agent.channels = [air]
            let reader = try StoreReader(path)
            reader.words = FleetWords([agent])
            reader.isRaw = true
            for (node, channel) in [("greenhouse", "warmth"), (own, "air"), (own, "warmth")] {
                var query = StoreQuery()
                query.peers = [.name(Glob(node))]
                #expect(try reader.runs(query).map(\.node) == [own])
                query.channels = [Glob(channel)]
                let newest = try reader.newestReadings(query, limit: 5)
                #expect(newest.map(\.series.node) == [own])
                #expect(newest.map(\.series.channel) == ["air"])
                let sent = try store.allReadings().map(\.outcome)
                #expect(newest.map(\.reading.outcome) == sent)
            }
        }
    }
}
