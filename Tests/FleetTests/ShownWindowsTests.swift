import Collector
import NearbyCore
import Telemetry
import Testing

@testable import Fleet

struct ShownWindowsTests {
    /// One closed window of one reading, 21.5 °C.
    private func window() throws -> Window {
        let description = try #require(
            ChannelDescription(name: "t1", unit: .celsius, scale: -1))
        let birth = Birth(
            number: 1, run: RunID(value: 1), boot: BootID(high: 1, low: 1),
            node: try NodeDescription(name: "north", labels: [Label(key: "a", value: "1")]),
            channels: [Channel(number: 1, description: description)])
        let time = Instant(nanoseconds: 1_000_000_000)
        let reading = Reading(
            sequence: 1, channel: 1, time: time,
            outcome: .value(DecimalValue(coefficient: 215, exponent: -1)))
        var windows = WindowAggregator()
        let delivery = Delivery(
            peer: PeerID(high: 1, low: 1), birth: birth, readings: [reading], arrival: time)
        _ = windows.handle(.delivery(delivery), now: time)
        let outputs = windows.handle(.deadlineReached, now: time + .seconds(20))
        let all = outputs.compactMap { output in
            if case .window(let window) = output { window } else { nil }
        }
        return try #require(all.first)
    }

    @Test func namesUnitsAndValuesAreThoseOfTheCollector() throws {
        var agent = AgentWords(node: "north")
        agent.rename = "greenhouse"
        agent.labels = [Label(key: "site", value: "x")]
        var channel = ChannelWords(channel: "t1")
        channel.rename = "air"
        channel.unit = Unit("K")
        agent.channels = [channel]
        var shown = ShownWindows(words: FleetWords([agent]))
        let row = try #require(shown.shown(try window()).rows.first)
        #expect(row.node.name == "greenhouse")
        #expect(row.node.labels.map(\.key) == ["a", "site"])
        #expect(row.channel.name == "air")
        #expect(row.channel.unit.name == "K")
        #expect(row.last.value?.description == "294.65")
        #expect(row.statistics.max?.description == "294.65")
        // Once more, from what is remembered, and with other words.
        let again = try #require(shown.shown(try window()).rows.first)
        #expect(again == row)
        shown.words = .none
        let plain = try window()
        #expect(shown.shown(plain) == plain)
    }

    @Test func tooManyLabelsLeaveTheOwnersOnes() throws {
        var agent = AgentWords(node: "north")
        agent.labels = (10..<26).map { Label(key: "k\($0)", value: "v") }
        var shown = ShownWindows(words: FleetWords([agent]))
        let row = try #require(shown.shown(try window()).rows.first)
        #expect(row.node.labels == agent.labels)
    }
}
