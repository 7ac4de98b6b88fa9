import Telemetry
import Testing

struct CivilTimeTests {
    /// The oracle counts: each day is the next of its month, or the first of the next month.
    @Test func everyDayOfFourCenturiesComesBack() {
        var before = CivilDay(daysSince1970: -73_050)
        var wrong: [Int64] = []
        for number in Int64(-73_049)...73_048 {
            let day = CivilDay(daysSince1970: number)
            let next =
                CivilDay(year: before.year, month: before.month, day: before.day + 1)
                ?? CivilDay(year: before.year, month: before.month + 1, day: 1)
                ?? CivilDay(year: before.year + 1, month: 1, day: 1)
            if day != next || day.daysSince1970 != number { wrong.append(number) }
            before = day
        }
        #expect(wrong.isEmpty)
        #expect(before.year == 2169 && before.month == 12 && before.day == 31)
    }

    @Test func timesAreWrittenAsPeopleWriteThem() {
        let time = CivilTime(1_763_885_700_250_000_001)
        #expect("\(time.date) \(time.clock)\(time.milliseconds)" == "2025-11-23 08:15:00.250")
        #expect(time.nanosecond == 250_000_001)
        #expect(CivilTime(0).date == "1970-01-01" && CivilTime(0).milliseconds.isEmpty)
    }

    @Test func timesBefore1970AndAtTheEndsAreLegal() {
        let before = CivilTime(-1)
        #expect(before.date == "1969-12-31" && before.clock == "23:59:59")
        #expect(before.nanosecond == 999_999_999)
        #expect(CivilTime(.min).date == "1677-09-21")
        #expect(CivilTime(.max).date == "2262-04-11")
    }

    @Test(arguments: [(2025, 2, 29), (1900, 2, 29), (2026, 4, 31), (2026, 13, 1), (2026, 0, 1)])
    func daysThatTheCalendarHasNotAreRefused(year: Int64, month: Int64, day: Int64) {
        #expect(CivilDay(year: year, month: month, day: day) == nil)
    }

    @Test func leapDaysAreKnown() {
        #expect(CivilDay(year: 2000, month: 2, day: 29)?.daysSince1970 == 11_016)
        #expect(CivilDay(year: 1970, month: 1, day: 1)?.daysSince1970 == 0)
    }
}
