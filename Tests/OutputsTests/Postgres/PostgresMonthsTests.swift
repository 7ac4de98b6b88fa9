import Testing

@testable import Outputs

struct PostgresMonthsTests {
    /// 2026-12-15.
    private let now: Int64 = 1_797_292_800_000_000_000

    private func suffixes(_ times: [Int64]) -> [String] {
        PostgresMonths.needed(times, now: now).map(\.suffix)
    }

    @Test func thisMonthAndTheNextAreMadeAhead() {
        #expect(suffixes([]) == ["2026_12", "2027_01"])
    }

    @Test func earlierMonthsAsReadingsNeedThem() {
        #expect(
            suffixes([1_730_000_000_000_000_000, 1_730_000_100_000_000_000])
                == ["2024_10", "2026_12", "2027_01"])
    }

    /// From 1677 to 2262, what a 64-bit clock can say.
    @Test func clocksThatRunWildMakeNoTables() {
        let wild = stride(from: Int64.min, to: .max - (1 << 52), by: 1 << 52)
        let made = PostgresMonths.needed(Array(wild), now: now)
        #expect(made.allSatisfy { $0 >= PostgresMonths.first })
        #expect(made.count <= 38)
        #expect(suffixes([.max, .min, 0]) == ["2026_12", "2027_01"])
    }

    @Test func aPartitionEndsWhereTheNextBegins() {
        let statements = PostgresSchema("rivulet").creation(
            of: PostgresMonth(year: 2026, month: 12))
        #expect(
            statements.last?.contains(
                "FROM ('2026-12-01 00:00:00+00') TO ('2027-01-01 00:00:00+00')") == true)
    }
}
