import Fleet
import NearbyCore
import Telemetry
import Testing

@testable import FleetPage

struct MetricsTextTests {
    private func lines(_ snapshot: FleetSnapshot, openMetrics: Bool = true) -> [Substring] {
        text(MetricsText.response(snapshot, openMetrics: openMetrics).body)
            .split(separator: "\n", omittingEmptySubsequences: false)
    }

    private let series = "rivulet_air_celsius{channel=\"air\",node=\"north\",peer=\""

    @Test func aChannelIsAGaugeInItsBaseUnit() {
        let lines = lines(snapshot([node(1, "north")]))
        #expect(lines.contains("# TYPE rivulet_air_celsius gauge"))
        #expect(lines.contains("# UNIT rivulet_air_celsius celsius"))
        #expect(lines.contains { $0.hasPrefix(series) && $0.hasSuffix("\"} 21.50") })
        #expect(lines.suffix(2) == ["# EOF", ""])
    }

    @Test func whatNoLongerHoldsIsLeftOut() {
        var silent = node(1, "north")
        silent.isOnline = false
        #expect(!lines(snapshot([silent])).contains { $0.hasPrefix("rivulet_air") })
        #expect(
            lines(snapshot([silent])).contains {
                $0.hasPrefix("rivulet_mesh_node_online{") && $0.hasSuffix(" 0")
            })
        // A reading without a value.
        #expect(!lines(snapshot([node(1, "north")])).contains { $0.hasPrefix("rivulet_soil") })
    }

    @Test func hostileNamesStayWithinTheirQuotes() {
        var hostile = node(1, "a\"b\\c\nd")
        hostile.labels = [Label(key: "x y", value: "1\"} 2\n# EOF")]
        hostile.channels[0].name = "evil\"} 1\n"
        for line in lines(snapshot([hostile])) where !line.hasPrefix("#") && !line.isEmpty {
            #expect(line.hasPrefix("rivulet_"), "\(line)")
        }
        let names = lines(snapshot([hostile])).filter { $0.contains("channel=") }
        #expect(names.count == 1)
        #expect(names.first?.contains("node=\"a\\\"b\\\\c\\nd\"") == true)
        #expect(names.first?.contains("label_x_y=\"1\\\"} 2\\n# EOF\"") == true)
    }

    @Test func aFamilyStandsTogetherEvenIfItsChannelsHaveSeveralUnits() {
        var north = node(1, "north")
        north.channels[1] = FleetChannel(
            name: "air_celsius", unit: .none, scale: 0, last: .value(DecimalValue(coefficient: 1)),
            utc: 0, hops: 1)
        let types = lines(snapshot([north, node(2, "south")])).filter { $0.hasPrefix("# TYPE") }
        #expect(Set(types).count == types.count)
    }

    @Test func twoChannelsThatComeToOneSeriesAreOneSample() {
        var north = node(1, "north")
        north.channels[1] = FleetChannel(
            name: "air", unit: Unit("[degF]") ?? .none, scale: 0,
            last: .value(DecimalValue(coefficient: 70)), utc: 0, hops: 1)
        let samples = lines(snapshot([north])).filter { $0.hasPrefix("rivulet_air") }
        #expect(samples.count == 1)
        #expect(samples.first?.hasSuffix("} 21.50") == true)
    }

    @Test func theOlderFormatHasNeitherUnitsNorAnEnd() {
        let lines = lines(snapshot([node(1, "north")]), openMetrics: false)
        #expect(!lines.contains { $0.hasPrefix("# UNIT") || $0.hasPrefix("# EOF") })
        #expect(lines.contains("# TYPE rivulet_collector_readings_total counter"))
        #expect(lines.contains("rivulet_collector_readings_total 0"))
    }

    @Test func dropsOutputsAndLinksAreTold() {
        var fleet = snapshot([node(1, "north")])
        fleet.collector.drops = [FleetCount(reason: "replay", count: 3)]
        var output = OutputStatus(name: "db", kind: "postgres", target: "10.0.0.2:5432")
        output.phase = .failing
        output.lag = .seconds(90)
        fleet.outputs = [output]
        let (one, two) = (PeerID(high: 1, low: 0), PeerID(high: 2, low: 0))
        fleet.links = [
            FleetLink(from: one, to: two, link: "wifi", cost: 300, lossPercent: 25),
            FleetLink(from: one, to: two, link: "wifi", cost: 200, lossPercent: nil),
        ]
        let lines = lines(fleet)
        #expect(lines.contains("rivulet_collector_drops_total{reason=\"replay\"} 3"))
        let labels = "{kind=\"postgres\",output=\"db\"}"
        #expect(lines.contains("rivulet_collector_output_working\(labels) 0"))
        #expect(lines.contains("rivulet_collector_output_lag_seconds\(labels) 90.0"))
        let costs = lines.filter { $0.hasPrefix("rivulet_mesh_link_cost{") }
        #expect(costs.count == 1)
        #expect(costs.first?.hasSuffix("} 200") == true)
    }
}
