import NearbyCore
import Testing

@testable import FileTransfer

struct TextTests {
    @Test(
        arguments: [
            (0, "0 B"), (999, "999 B"), (1_000, "1.0 kB"), (999_949, "999.9 kB"),
            (1_000_000, "1.0 MB"), (35_127_000, "35.1 MB"), (1_073_741_824, "1.0 GB"),
            (5_000_000_000_000, "5.0 TB"), (-1, "0 B"), (.max, "9223.3 PB"),
        ] as [(Int64, String)])
    func bytesAreInDecimalUnits(_ count: Int64, _ text: String) {
        #expect(ByteText.text(count) == text)
    }

    @Test func timesAreClocks() {
        #expect(ByteText.clock(seconds: 7) == "0:07")
        #expect(ByteText.clock(seconds: 750) == "12:30")
        #expect(ByteText.clock(seconds: 3_723) == "1:02:03")
        #expect(ByteText.clock(seconds: -5) == "0:00")
    }

    @Test func aLineSaysHowFarHowFastAndHowLong() {
        let text = ProgressText(
            name: "data.bin", completed: 410_200_000, total: 976_500_000,
            bytesPerSecond: 35_100_000)
        #expect(
            text.line(columns: 80)
                == "data.bin  42 %  410.2 MB of 976.5 MB  35.1 MB/s  0:17 left")
        #expect(text.line(columns: 45) == "data.bin  42 %  410.2 MB of 976.5 MB")
    }

    @Test func aLineFitsWhateverTheName() {
        for columns in 20...120 {
            let text = ProgressText(
                name: String(repeating: "日本\u{1b}", count: 40), completed: 1, total: 3,
                bytesPerSecond: 1)
            let line = text.line(columns: columns)
            #expect(TextWidth.columns(line) <= max(columns, 22))
            #expect(!line.contains("\u{1b}"))
        }
    }

    @Test func aHundredPerCentIsAll() {
        let all = { ProgressText(name: "", completed: $0, total: $1, bytesPerSecond: nil).percent }
        #expect(all(999_999_999, 1_000_000_000) == 99)
        #expect(all(5, 5) == 100)
        #expect(all(0, 0) == 100)
        #expect(all(.max - 1, .max) <= 100)
    }

    @Test func aRateIsThatOfTheLastSeconds() {
        var meter = RateMeter()
        let start = Instant(nanoseconds: 1_000_000_000)
        meter.record(0, at: start)
        #expect(meter.bytesPerSecond == nil)
        for tenth in 1...100 {
            meter.record(Int64(tenth) * 1_000, at: start + .milliseconds(tenth * 100))
        }
        #expect(meter.bytesPerSecond == 10_000)
        // It stands still.
        for tenth in 101...160 { meter.record(100_000, at: start + .milliseconds(tenth * 100)) }
        #expect(meter.bytesPerSecond == 0)
        // It begins anew.
        meter.record(0, at: start + .seconds(17))
        #expect(meter.bytesPerSecond == nil)
    }

    @Test func textOfOthersHasNothingThatTerminalsObey() {
        #expect(ReadableText.shown("a\u{1b}]0;x\u{7}\u{202e}b") == "a?]0;x??b")
        #expect(ReadableText.shown(String(repeating: "x", count: 100)).count == 60)
    }
}
