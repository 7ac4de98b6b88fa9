import NearbyCore
import Telemetry
import Testing

@testable import Outputs

struct PostgresRowsTests {
    private func row(_ reading: OutputReading) -> String {
        var rows = PostgresRows()
        rows.add(reading, run: 3, channel: 4, sequence: 5)
        return String(decoding: rows.bytes, as: UTF8.self)
    }

    @Test func aValueKeepsItsPlaces() {
        #expect(
            row(Batches.reading(5))
                == "3\t5\t2023-11-14 22:13:20.123456+00\t4\t5\t2150e-2\t\\N\t2\n")
    }

    @Test func aNullHasItsReason() {
        #expect(row(Batches.reading(5, .null(.timeout))).hasSuffix("\t4\t5\t\\N\ttimeout\t2\n"))
    }

    @Test(
        arguments: [
            (Int64.min, "1677-09-21 00:12:43.145224+00"), (.max, "2262-04-11 23:47:16.854775+00"),
            (0, "1970-01-01 00:00:00.000000+00"), (-1, "1969-12-31 23:59:59.999999+00"),
            (951_782_400_000_000_000, "2000-02-29 00:00:00.000000+00"),
            (4_107_542_399_999_999_999, "2100-02-28 23:59:59.999999+00"),
            (4_107_542_400_000_000_000, "2100-03-01 00:00:00.000000+00"),
        ])
    func timesAreWrittenToTheMicrosecondRoundedDown(_ utc: Int64, _ text: String) {
        #expect(PostgresRows.time(utc) == text)
    }

    @Test(
        arguments: [
            ("a\tb", "a\\tb"), ("a\nb\rc", "a\\nb\\rc"), ("\\.", "\\\\."), ("\\N", "\\\\N"),
            ("'; DROP TABLE x; --", "'; DROP TABLE x; --"), ("a\0b", "a\u{fffd}b"), ("", ""),
            ("Küche", "Küche"),
        ])
    func foreignTextStaysOneColumn(_ text: String, _ column: String) {
        var rows = PostgresRows()
        rows.add(Batches.series(text, node: text), number: 1)
        let written = String(decoding: rows.bytes, as: UTF8.self)
        #expect(
            written
                == "1\t\(Batches.peer)\t\(Batches.run)\t\(column)\t\t{}\t\(column)\tCel\t0\n")
    }

    @Test func labelsAreJSONInsideOfAColumn() {
        var rows = PostgresRows()
        let labels = [Label(key: "k\"\\", value: "v\t\0")]
        rows.add(Batches.series(labels: labels), number: 1)
        let written = String(decoding: rows.bytes, as: UTF8.self)
        #expect(written.contains("\t{\"k\\\\\"\\\\\\\\\":\"v\\\\u0009\u{fffd}\"}\t"))
    }
}
