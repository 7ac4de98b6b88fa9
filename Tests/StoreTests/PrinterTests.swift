import Collector
import Glibc
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
                + "Cel,2,20.02,,1,")
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

    @Test func startsOfWindowsThatAreNoWholeSecondsHaveAFraction() throws {
        let table = try lines(.table, width: .milliseconds(1))
        #expect(
            table.prefix(2) == [
                "START (UTC)              NODE   CHANNEL      MEAN     MIN     MAX UNIT    N LOST",
                "2026-11-21 05:20:03.000  north  air        20.030   20.03   20.03 °C      1",
            ])
        let estimate = try lines(.table, rank: ClockRank.none, width: .milliseconds(1_500))[1]
        #expect(estimate.hasPrefix("~2026-11-21 05:20:03.000 north  air "))
        let json = try lines(.json, width: .milliseconds(1))[0]
        #expect(json.hasPrefix("{\"start\":\"2026-11-21T05:20:03Z\",\"width\":0.001,"))
        let csv = try lines(.csv, width: .milliseconds(1))[1]
        #expect(csv.hasPrefix("2026-11-21T05:20:03Z,0.001,"))
        // All of a whole second's width are whole seconds.
        #expect(try lines(.table, width: .seconds(2))[1].hasPrefix("2026-11-21 05:20:02  north "))
    }

    @Test func aHeaderStandsAlsoOverNothing() {
        for rows in [StoreRows.readings, .windows, .fineWindows, .gaps, .runs] {
            var csv = StorePrinter(.csv)
            #expect(csv.header(rows).hasSuffix("\r\n"))
            #expect(csv.header(rows).isEmpty)
            var table = StorePrinter(.table, times: .local)
            let header = table.header(rows)
            #expect(header.hasSuffix("\n") && header.utf8.count <= 81)
            var json = StorePrinter(.json)
            #expect(json.header(rows).isEmpty)
        }
    }

    @Test func theNewestComeFirst() throws {
        try withStorePath { path in
            let store = try Store.open(path).store
            var batch = Fixture.batch(
                Fixture.readings(count: 60), births: [try Fixture.birth()])
            batch.clocks = [Fixture.mapping(rank: .network)]
            try store.commit(batch)
            let reader = try StoreReader(path)
            for limit in [1, 7, 59, 60, 100] {
                let rows = try reader.newestReadings(StoreQuery(), limit: limit)
                let sequences = rows.map(\.reading.sequence)
                let wanted: [UInt64] = (1...60).reversed().prefix(limit).map { UInt64($0) }
                #expect(sequences == wanted)
            }
            var query = StoreQuery()
            query.channels = [Glob("rain")]
            query.to = Fixture.unixOffset.nanoseconds + 30_000_000_000
            let rain = try reader.newestReadings(query, limit: 3).map(\.reading.sequence)
            #expect(rain == [29, 26, 23])
            let windows = try reader.newestWindows(
                StoreQuery(), width: .seconds(10), limit: 4)
            let starts = windows.map(\.window.start)
            #expect(starts.count == 4)
            #expect(starts == starts.sorted(by: >))
        }
    }

    @Test func aFileThatIsNoStoreIsCalledWhatItIs() throws {
        withStorePath { path in
            #expect(throws: StoreError.missing(path: path)) { try StoreReader(path) }
            for (text, error) in [
                ("", StoreError.empty(path: path)), ("name,value\n", .notADatabase(path: path)),
                (String(repeating: "x", count: 9_000), .notADatabase(path: path)),
            ] {
                guard let file = fopen(path, "w") else {
                    Issue.record("\(path) cannot be written")
                    return
                }
                fputs(text, file)
                fclose(file)
                #expect(throws: error) { try StoreReader(path) }
                #expect(!error.description.contains("earlier version"))
            }
        }
    }

    @Test func timesAreShownInTheZoneThatIsWanted() {
        let utc = Fixture.unixOffset.nanoseconds
        #expect(ShownTimes.utc.text(utc) == "2026-11-21 05:20:00")
        #expect(ShownTimes.offset(seconds: 3_600).text(utc) == "2026-11-21 06:20:00")
        #expect(
            ShownTimes.offset(seconds: -19_800).text(utc + 250_000_000) == "2026-11-20 23:50:00.250"
        )
        #expect(ShownTimes.utc.text(utc, hasFraction: true) == "2026-11-21 05:20:00.000")
        #expect(
            ShownTimes.utc.text(utc + 1_000_000, hasFraction: true) == "2026-11-21 05:20:00.001")
    }

    /// Now is 05:20 UTC, and 06:20 in the zone.
    @Test(arguments: [
        ("now", 0), ("10:00", 13_200), ("06:20", 0), ("today", -22_800),
        ("yesterday", -109_200), ("yesterday 06:20", -86_400), ("2026-11-21", -22_800),
        ("2026-11-21 06:20:30", 30), ("2026-11-21T06:20", 0), ("2026-11-21T05:20:00Z", 0),
        ("2026-11-21T07:20:00+02:00", 0), ("9:00", 9_600), ("Today", -22_800), ("NOW", 0),
        ("Yesterday 6:20", -86_400),
    ])
    func timesAreReadAsPeopleWriteThem(text: String, seconds: Int64) throws {
        let now = Fixture.unixOffset.nanoseconds
        let time = try #require(WrittenTime(text))
        let utc = time.utc(in: .offset(seconds: 3_600), now: now)
        #expect((utc - now) / 1_000_000_000 == seconds)
    }

    @Test(arguments: ["", "tomorrow", "25:00", "10", "yesterday noon", "today ", "10:00 today"])
    func whatIsNoTimeIsRefused(text: String) { #expect(WrittenTime(text) == nil) }

    @Test func nothingIsWiderThan80Columns() throws {
        let name = String(repeating: "ß", count: 31)
        for width in [nil, .milliseconds(1), .seconds(10), .seconds(60)] as [Duration?] {
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
