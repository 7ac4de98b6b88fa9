import Collector
import NearbyCore
import Telemetry
import Testing

@testable import Store

@Suite struct StorePrinterTests {
    /// What a query prints of a small store.
    private func lines(
        _ format: StorePrinter.Format, rank: ClockRank? = .network, node: String = "north",
        width: Duration? = nil, change: (inout StoreQuery) -> Void = { _ in }
    ) throws -> [String] {
        try withStorePath { path in
            let store = try Store.open(path).store
            var readings = Fixture.readings(count: 6)
            readings[5].outcome = .null(.timeout)
            var batch = Fixture.batch(readings, births: [try Fixture.birth(name: node)])
            if let rank { batch.clocks = [Fixture.mapping(rank: rank)] }
            try store.commit(batch)
            let clock = ClockReading(rank: .none, unixOffset: Fixture.unixOffset)
            _ = try store.tidy(now: Fixture.at(60_000), clock: clock)
            var printer = StorePrinter(format)
            var query = StoreQuery()
            change(&query)
            var text = ""
            let reader = try StoreReader(path)
            if let width {
                try reader.windows(query, width: width) {
                    text += printer.line($0, $1)
                    return true
                }
            } else {
                try reader.readings(query) {
                    text += printer.line($0, $1)
                    return true
                }
            }
            return text.split(whereSeparator: \.isNewline).map(String.init)
        }
    }

    @Test func readingsComeByChannelAndTime() throws {
        #expect(
            try lines(.table) == [
                "TIME (UTC)               NODE         CHANNEL                   VALUE UNIT   HOP",
                "2026-11-21 05:20:03      north        air                       20.03 °C       1",
                "2026-11-21 05:20:06      north        air                     timeout °C       1",
                "2026-11-21 05:20:02      north        rain                      20.02 °C       1",
                "2026-11-21 05:20:05      north        rain                      20.05 °C       1",
                "2026-11-21 05:20:01      north        soil                      20.01 °C       1",
                "2026-11-21 05:20:04      north        soil                      20.04 °C       1",
            ])
    }

    @Test func boundsAndNamesNarrowAQuery() throws {
        let utc = Fixture.unixOffset.nanoseconds
        let some = try lines(.csv) {
            $0.channels = [Glob("rain")]
            $0.peers = [.id(Fixture.peer(1))]
            $0.from = utc + 2_000_000_000
            $0.to = utc + 5_000_000_000
        }
        #expect(some.count == 2)
        #expect(
            some.last
                == "2026-11-21T05:20:02Z,network,\(Fixture.peer(1)),0000000000000100,north,rain,"
                + "Cel,2,20.02,,1")
        #expect(try lines(.csv) { $0.peers = [.name(Glob("south"))] }.isEmpty)
        #expect(try lines(.csv) { $0.channels = [Glob("wind")] }.isEmpty)
        let globs = try lines(.csv) {
            $0.channels = [Glob("r*"), Glob("so?l")]
            $0.peers = [.name(Glob("south")), .name(Glob("n[a-o]rth"))]
        }
        #expect(globs.count == 5)
    }

    @Test func timesWithoutARightClockAreMarked() throws {
        #expect(try lines(.table, rank: ClockRank.none)[1].hasPrefix("~2026-11-21 05:20:03 "))
        #expect(try lines(.json, rank: ClockRank.none)[0].contains("\"clock\":\"estimate\""))
        #expect(try lines(.table, rank: nil)[1].hasPrefix("unknown "))
        #expect(try lines(.json, rank: nil)[0].hasPrefix("{\"time\":null,\"clock\":\"unknown\""))
        #expect(try lines(.json, rank: nil) { $0.from = 0 }.isEmpty)
    }

    @Test func windowsOfTheStoredWidthSayHowMuchIsThere() throws {
        let table = try lines(.table, width: .seconds(10))
        #expect(
            table == [
                "START (UTC)          NODE     CHANNEL        MEAN     MIN     MAX UNIT    N LOST",
                "2026-11-21 05:20:00  north    air          20.030   20.03   20.03 °C      1    0",
                "2026-11-21 05:20:00  north    rain         20.035   20.02   20.05 °C      2    0",
                "2026-11-21 05:20:00  north    soil         20.025   20.01   20.04 °C      2    0",
            ])
        let object = try lines(.json, width: .seconds(10))[0]
        #expect(object.contains("\"count\":1,\"nulls\":1,\"rate\":0.1,\"last\":null"))
        #expect(object.contains("\"reason\":\"timeout\",\"min\":20.03,\"mean\":20.03"))
        #expect(object.contains("\"lost\":0,"))
        #expect(try lines(.json, width: .seconds(2)).count == 6)
    }

    @Test func nothingIsWiderThan80Columns() throws {
        let name = String(repeating: "ß", count: 31)
        for width in [nil, .seconds(10), .seconds(60)] as [Duration?] {
            for line in try lines(.table, rank: ClockRank.none, node: name, width: width) {
                #expect(line.count <= 80)
            }
        }
    }

    @Test func timesReadAsTheyAreWritten() {
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<2_000 {
            let utc = Int64.random(in: 0..<7_000_000_000_000, using: &generator) * 1_000_000
            #expect(UTCText.parse(UTCText.text(utc)) == utc)
        }
        let same = [
            "2026-11-21T05:20:00Z", "2026-11-21t05:20z", "2026-11-21 05:20:00.000Z",
            "2026-11-21T06:20:00+01:00", "2026-11-20T23:50:00-05:30",
        ]
        for text in same { #expect(UTCText.parse(text) == Fixture.unixOffset.nanoseconds) }
        #expect(UTCText.parse("1970-01-01") == 0)
        #expect(UTCText.parse("2024-02-29") != nil)
        let wrong = [
            "", "2026", "2026-13-01", "2026-02-29", "2026-11-21T", "2026-11-21T05:20",
            "2026-11-21T24:00Z", "2026-11-21T05:20:00.Z", "2026-11-21T05:20:00Zz", "9999-01-01",
            "2026-11-21T05:20:00+1:00", "２026-11-21",
        ]
        for text in wrong { #expect(UTCText.parse(text) == nil) }
        #expect(
            UTCText.parse("2026-11-21T05:20:00." + String(repeating: "9", count: 40) + "Z") != nil)
    }
}
