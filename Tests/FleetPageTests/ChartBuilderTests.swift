import Collector
import Fleet
import NearbyCore
import Store
import Telemetry
import Testing

@testable import FleetPage

/// Charts out of a real store.
final class ChartBuilderTests {
    private let folder = TemporaryFolder()
    private let second: Int64 = 1_000_000_000
    private let begin: Int64 = 1_795_238_400
    private let peer = PeerID(high: 1, low: 1)

    /// Two hours of a reading each ten seconds: the value is the minute; in the second hour's first
    /// minute there is none. A channel whose name is a pattern that matches the other.
    private func reader(width: Duration = .seconds(10)) throws -> StoreReader {
        var settings = Store.Settings()
        settings.windowWidth = width
        let store = try Store.open(folder.path + "/r.sqlite", settings).store
        var batch = StoreBatch()
        let key = RunKey(peer: peer, run: RunID(value: 1))
        let boot = BootID(high: 1, low: 2)
        let channels = ["air", "a*"].enumerated().compactMap { index, name in
            ChannelDescription(name: name, unit: .celsius, scale: 0)
                .map { Channel(number: UInt16(index + 1), description: $0) }
        }
        let birth = Birth(
            number: 1, run: key.run, boot: boot, node: try NodeDescription(name: "north"),
            channels: channels)
        batch.births = [StoreBatch.PeerBirth(peer: peer, birth: birth)]
        let clock = ClockReading(rank: .network, unixOffset: .seconds(begin))
        batch.clocks = [ClockMapping(boot: boot, clock: clock, uncertainty: .milliseconds(3))]
        let readings = (0..<720).map { (index: Int) -> Reading in
            let value = DecimalValue(coefficient: Int64(index / 6))
            let isMissing = (360..<366).contains(index)
            return Reading(
                sequence: UInt64(index + 1), channel: 1, time: at(Int64(index) * 10),
                outcome: isMissing ? .null(.timeout) : .value(value))
        }
        let other = Reading(
            sequence: 721, channel: 2, time: at(5), outcome: .value(DecimalValue(coefficient: 999)))
        var settled = NumberRanges()
        settled.insert(1..<722)
        batch.parts = [
            StoreBatch.Part(key: key, readings: readings + [other], settled: settled, hops: 1)
        ]
        try store.commit(batch)
        let now = ClockReading(rank: .network, unixOffset: .seconds(begin + 10_000))
        while try !store.tidy(now: at(10_000), clock: now).isDone {}
        return try StoreReader(folder.path + "/r.sqlite")
    }

    private func chart(
        _ reader: StoreReader, _ channel: String, from: Int64, to: Int64, points: Int
    ) throws -> String {
        let range = TimeRange(from: (begin + from) * second, to: (begin + to) * second)
        let query = ChartQuery(peer: peer, channel: channel, range: range, points: points)
        return text(try StoreAnswer.text(.chart(query), reader))
    }

    @Test func windowsAreSummedUpToThePoints() throws {
        let chart = try chart(try reader(), "air", from: 0, to: 7_200, points: 12)
        let first = "[[\(begin)000,0.0,4.5,9.0,60,0],[\(begin + 600)000,10.0,14.5,19.0,60,0],"
        #expect(chart.contains("\"points\":" + first), "\(chart)")
        #expect(chart.contains("[\(begin + 3_600)000,61.0,65.0,69.0,54,6]"), "\(chart)")
        #expect(chart.contains("\"step\":600000.0"))
    }

    @Test func shortTimesShowTheReadingsThemselves() throws {
        let chart = try chart(try reader(), "air", from: 3_590, to: 3_620, points: 3)
        #expect(chart.contains("[\(begin + 3_590)000,59.0,59.0,59.0,1,0],"), "\(chart)")
        #expect(chart.contains("[\(begin + 3_600)000,null,null,null,0,1]"), "\(chart)")
    }

    @Test func aNameThatIsAPatternIsOneChannel() throws {
        let reader = try reader()
        for range in [(0, 60), (0, 7_200)] as [(Int64, Int64)] {
            let chart = try chart(reader, "a*", from: range.0, to: range.1, points: 10)
            #expect(chart.contains(",999.0,999.0,999.0,1,0]]"), "\(chart)")
            #expect(!chart.contains(",0.0,"), "\(chart)")
        }
    }

    @Test func thereAreNeverMorePointsThanAskedFor() throws {
        let reader = try reader()
        for points in [2, 7, 100, 2_000] {
            let chart = try chart(reader, "air", from: 5, to: 7_199, points: points)
            let count = chart.split(separator: "[", omittingEmptySubsequences: true).count - 2
            #expect(count <= points, "\(points)")
        }
    }

    @Test func nothingIsAnEmptyChart() throws {
        let chart = try chart(try reader(), "air", from: 100_000, to: 200_000, points: 10)
        #expect(chart.hasSuffix("\"lines\":[]}") || chart.hasSuffix("\"points\":[]}]}"), "\(chart)")
    }

    @Test func allChannelsOfANodeComeWithFewPoints() throws {
        let range = TimeRange(from: begin * second, to: (begin + 3_600) * second)
        let lines = text(
            try StoreAnswer.text(.lines(LinesQuery(peer: peer, range: range)), try reader()))
        #expect(lines.hasPrefix("{\"channels\":[{\"name\":\"a*\","), "\(lines)")
        #expect(lines.contains("{\"name\":\"air\","))
        #expect(lines.contains("\"step\":60000.0"))
    }
}
