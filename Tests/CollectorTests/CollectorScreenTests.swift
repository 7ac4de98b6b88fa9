import NearbyCore
import Telemetry
import Testing

@testable import Collector

@Suite struct CollectorScreenTests {
    private var screen = CollectorScreen(
        title: "collector in network garden", width: .seconds(10),
        settings: .init(isLive: true, lines: 12, width: 70))

    private mutating func tell(_ event: CollectorScreen.Event, at milliseconds: Int64 = 0) -> String
    {
        screen.handle(event, now: Fixture.at(milliseconds))
    }

    @Test mutating func itSaysAtOnceThatItWaits() {
        let text = tell(.tick)
        #expect(text.contains("collector in network garden\n"))
        #expect(text.contains("waiting for readings; a table follows every 10 s\n"))
        #expect(text.contains("no node is heard yet"))
    }

    @Test mutating func itSaysWhomItHears() {
        _ = tell(.tick)
        _ = tell(.connected(Fixture.peer(1), name: "north"))
        _ = tell(.birth(Fixture.peer(1), name: "north", channelCount: 12))
        _ = tell(.readings(Fixture.peer(1), count: 34), at: 1_000)
        let text = tell(.connected(Fixture.peer(2), name: "relay"), at: 3_000)
        #expect(text.contains("hears north: 12 channels, 34 readings, the last 2s ago"))
        #expect(text.contains("hears relay: connected, nothing said of its channels yet"))
        #expect(tell(.disconnected(Fixture.peer(2)), at: 4_000).contains("heard relay:"))
    }

    /// The birth of a run that the store knows is not told of again.
    @Test mutating func readingsOfAKnownRunAreNoSilence() {
        _ = tell(.connected(Fixture.peer(1), name: "north"))
        _ = tell(.readings(Fixture.peer(1), count: 1), at: 1_000)
        #expect(tell(.tick, at: 2_000).contains("hears north: 1 reading, the last 1s ago"))
    }

    @Test mutating func aTableTakesTheScreenAndLaterResizesDrawItAnew() throws {
        _ = tell(.connected(Fixture.peer(9), name: "relay"))
        let birth = try Fixture.birth(name: "north", channels: [("t", .celsius, -2)])
        var aggregator = WindowAggregator()
        let delivery = Delivery(
            peer: Fixture.peer(1), birth: birth, readings: [Fixture.reading(1, at: 11_000, 2147)],
            arrival: Fixture.at(11_000))
        _ = aggregator.handle(.delivery(delivery), now: delivery.arrival)
        let window = aggregator.current(now: Fixture.at(12_000))
        #expect(screen.needsTicks)
        let table = tell(.window(window, ShownClock(unixOffset: .zero)))
        #expect(table.contains("NODE"))
        #expect(table.contains("also connected: relay"))
        #expect(!screen.needsTicks)
        #expect(tell(.tick).isEmpty)
        let narrow = tell(.resized(columns: 40, lines: 12))
        #expect(narrow.contains("north"))
        // Two more columns are of the sequence that clears a line, four of the one at the begin.
        for line in narrow.split(separator: "\n") {
            #expect(PrintableText(String(line)).width <= 40 + 2 + 4)
        }
        #expect(tell(.message("the store works again")).contains("the store works again"))
    }

    @Test mutating func itRemembersSoManyNodesAndNoMore() {
        for number in 0..<UInt64(Limits.screenPeersMax + 10) {
            _ = tell(.connected(Fixture.peer(number), name: "n\(number)"))
        }
        #expect(tell(.connected(Fixture.peer(999_999), name: "late")).isEmpty)
    }
}
