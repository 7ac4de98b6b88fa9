import NearbyCore
import Telemetry
import Testing

@testable import Sampling
@testable import Sensors

struct LineParserTests {
    private func parse(_ parser: LineParser, _ text: String) -> [String] {
        var parser = parser
        return parser.feed(Array(text.utf8)[...]).map(\.text)
    }

    private func pattern(_ text: String, _ channels: [ExpectedChannel]) throws -> LineParser {
        let pattern = try #require(LinePattern(text))
        return LineParser(.pattern({ pattern.groups(in: $0) }, channels))
    }

    @Test func groupsAreChannels() throws {
        let parser = try pattern(
            "^T=(-?[0-9.]+) *(H=([0-9.]+))?",
            [
                ExpectedChannel("t", "Cel"), ExpectedChannel("all", "1"),
                ExpectedChannel("h", "%RH"),
            ])
        #expect(
            parse(parser, "\nT=-2.50 H=40\n") == [
                "t Cel -2.50", "all 1 null:malformed", "h %RH 40",
            ])
        #expect(parse(parser, "\nT=21\r\nboot\r\n# T=3\n") == ["t Cel 21"])
        #expect(parse(parser, "\nT=1.2.3\n") == ["t Cel null:malformed"])
        #expect(parse(parser, "\nT=1\u{0}\n") == [])
    }

    @Test func linesOfAnyEncodingMatch() throws {
        var parser = try pattern("([0-9]+).C", [ExpectedChannel("t", "Cel")])
        #expect(parser.feed([0x0a, 0x32, 0x31, 0xb0, 0x43, 0x0a]).map(\.text) == ["t Cel 21"])
    }

    @Test(arguments: ["(", "a{2", "[", "*("]) func whatIsNoPatternIsRefused(_ text: String) {
        #expect(LinePattern(text) == nil)
    }

    @Test func theFirstLineIsPassedOverAsItMayBeHalf() {
        let parser = LineParser(.plain(name: nil, unit: "V"))
        #expect(parse(parser, "1.5\n21.5\n21.6") == ["serial V 21.5"])
    }

    @Test func aLineThatIsTooLongIsCountedAndTheNextIsGood() {
        var parser = LineParser(.plain(name: nil, unit: "V"))
        for _ in 0..<10 {
            let long = [0x0a] + [UInt8](repeating: 0x31, count: 100_000)
            #expect(parser.feed(long[...]).isEmpty)
        }
        #expect(parser.losses.longLines == 10)
        #expect(parser.feed(Array("\n5\nwarm\n".utf8)[...]).map(\.text) == ["serial V 5"])
        #expect(parser.losses.text == "1 lines not understood, 10 lines too long")
    }

    @Test func linesWithoutMeaningAreSenselessUntilOneHasIt() throws {
        var parser = try pattern("v=([0-9]+)", [ExpectedChannel("v", "V")])
        #expect(parser.feed(Array("\nxxxx\n".utf8)[...]).isEmpty)
        #expect(parser.losses.unparsedBytes == 4)
        #expect(parser.feed(Array("v=1\nboot\n".utf8)[...]).count == 1)
        #expect(parser.losses == SerialLosses())
    }
}
