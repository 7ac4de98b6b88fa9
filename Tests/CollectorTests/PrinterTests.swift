import NearbyCore
import Telemetry
import Testing

@testable import Collector

@Suite struct PrinterTests {
    private let clock = ShownClock(unixOffset: .seconds(1_795_239_900))

    @Test func theTableIsReadableInEightyColumns() throws {
        var printer = TablePrinter()
        let text = printer.print(try window(), clock: clock)
        #expect(text == golden("table"))
        for line in text.split(separator: "\n") { #expect(PrintableText(String(line)).width <= 80) }
    }

    @Test func theHeadingKeepsWithinEightyColumnsWhateverWasLost() throws {
        var window = try window()
        for index in window.rows.indices {
            window.rows[index].lostCount = .max
            window.rows[index].lateCount = 1_000_000_000_000
        }
        window.isClosed = false
        var printer = TablePrinter()
        for line in printer.print(window, clock: clock).split(separator: "\n") {
            #expect(PrintableText(String(line)).width <= 80)
        }
    }

    /// Symbols that terminals draw over two columns though they lie outside the emoji blocks.
    @Test(arguments: [
        ("⚡", 2), ("✅", 2), ("⌚", 2), ("温", 2), ("é", 1), ("e\u{301}", 1), ("→", 1),
    ])
    func widthsAreThoseOfATerminal(text: String, width: Int) {
        #expect(PrintableText(text).width == width)
    }

    @Test func aSecondTableFollowsTheFirstUnlessLive() throws {
        var plain = TablePrinter()
        let first = plain.print(try window(), clock: clock)
        #expect(try plain.print(window(), clock: clock) == "\n" + first)
        var live = TablePrinter(settings: .init(isLive: true))
        #expect(live.print(try window(), clock: clock).hasPrefix("\u{1b}[2J\u{1b}[H"))
        let second = live.print(try window(), clock: clock)
        #expect(second.hasPrefix("\u{1b}[H"))
        #expect(second.hasSuffix("\n\u{1b}[J"))
        #expect(!first.unicodeScalars.contains("\u{1b}"))
    }

    @Test func aLiveTableKeepsWithinTheTerminal() throws {
        var live = TablePrinter(settings: .init(isLive: true, lines: 6))
        let text = live.print(try window(), clock: clock)
        #expect(text.split(separator: "\n").count - 1 == 5)
        #expect(text.contains("… 2 more channels, 1 without a value, newest 5s ago"))
    }

    @Test func aWindowIsJSONLines() throws {
        let text = JSONPrinter().print(try window(), clock: clock)
        #expect(text == golden("json"))
    }

    @Test func aWindowIsCSVWithOneHeader() throws {
        var printer = CSVPrinter()
        let first = printer.print(try window(), clock: clock)
        #expect(first == golden("csv").replacingNewlines(with: "\r\n"))
        let second = printer.print(try window(), clock: clock)
        #expect(first.hasSuffix(second))
        #expect(second.utf8.count < first.utf8.count)
    }

    @Test(arguments: [
        ("plain", #""plain""#), ("a\"b\\c", #""a\"b\\c""#), ("a\nb\tc\r", #""a\nb\tc\r""#),
        ("\u{0}\u{1b}\u{7f}\u{9b}", #""\u0000\u001b\u007f\u009b""#), ("é — 温", #""é — 温""#),
        ("\u{2028}", #""\u2028""#),
    ])
    func jsonStringsAreEscaped(text: String, json: String) {
        #expect(JSONObjectWriter.quoted(text) == json)
    }

    @Test(arguments: [
        ("plain", "plain"), ("a,b", "\"a,b\""), ("a\"b", "\"a\"\"b\""), ("a\nb", "\"a\nb\""),
        ("a\r\nb", "\"a\r\nb\""), ("a\u{1b}[2Jb", "a[2Jb"), ("", ""),
    ])
    func csvFieldsAreQuoted(text: String, field: String) {
        #expect(CSVPrinter.quoted(text) == field)
    }

    /// 2^53 − 1 is the last integer below which every double is one.
    @Test func whatADoubleWouldRoundIsAString() {
        var writer = JSONObjectWriter()
        writer.add("a", integer: 9_007_199_254_740_991)
        writer.add("b", integer: 9_007_199_254_740_992)
        writer.add("c", integer: nil)
        writer.add("d", decimal: DecimalValue(coefficient: 21_50, exponent: -2))
        writer.add("e", decimal: DecimalValue(coefficient: .max, exponent: -9))
        writer.add("f", decimal: DecimalValue(coefficient: -1, exponent: 20))
        writer.add("g", decimal: nil)
        #expect(
            writer.text == #"{"a":9007199254740991,"b":"9007199254740992","c":null,"d":21.50,"#
                + #""e":"9223372036.854775807","f":"-1e20","g":null}"#)
    }

    @Test func unitsHaveThePrefixThatSuitsThem() {
        let bytes: [(Int64, String, String)] = [
            (0, "0", "B"), (1_023, "1023", "B"), (16_284, "15.90", "KiB"),
            (26_432_000_000, "24.62", "GiB"), (1_073_741_823, "1024.0", "MiB"),
        ]
        for (value, text, symbol) in bytes {
            let decimal = DecimalValue(coefficient: value)
            let unit = ScaledUnit(.byte, [decimal, nil])
            #expect(unit.text(decimal, width: 8) == text)
            #expect(unit.symbol == symbol)
        }
        let radio = DecimalValue(coefficient: 2_412_000_000)
        #expect(ScaledUnit(.hertz, [radio]).text(radio, width: 8) == "2.412")
        #expect(ScaledUnit(.hertz, [radio]).symbol == "GHz")
        #expect(ScaledUnit(.celsius, [radio]).symbol == "°C")
    }

    @Test func countsHaveNoFraction() {
        #expect(NumberText.mean(2, places: 1, width: 8) == "2")
        #expect(NumberText.mean(2.5, places: 1, width: 8) == "2.5")
        #expect(NumberText.mean(21.5, places: 2, width: 8) == "21.50")
    }

    @Test func whatIsNoNumberIsNullInJSON() {
        var writer = JSONObjectWriter()
        writer.add("a", number: .nan)
        writer.add("b", number: .infinity)
        writer.add("c", number: nil)
        writer.add("d", number: 1)
        writer.add("e", number: -0.25)
        #expect(writer.text == #"{"a":null,"b":null,"c":null,"d":1,"e":-0.25}"#)
    }

    /// Two nodes; one with a name of wide characters and escape sequences.
    private func window() throws -> Window {
        var aggregator = WindowAggregator()
        var north = Delivery(
            peer: Fixture.peer(1),
            birth: try Fixture.birth(
                name: "north bench",
                channels: [
                    ("air.temperature", .celsius, -2), ("memory.free", .byte, 0),
                    ("door", .none, 0),
                ]),
            readings: [
                Fixture.reading(1, at: 11_000, 2147), Fixture.reading(2, at: 12_000, 2155),
                Fixture.reading(3, at: 16_000, 2153),
                Fixture.reading(4, channel: 2, at: 16_000, 7_913_242_624, scale: 0),
                Reading(
                    sequence: 5, channel: 3, time: Fixture.at(16_000), outcome: .null(.timeout)),
            ],
            arrival: Fixture.at(16_000))
        north.missing = 4
        north.birth.node = try NodeDescription(
            name: "north bench", labels: [Label(key: "site", value: "a \"b\"")])
        let wide = Delivery(
            peer: Fixture.peer(2),
            birth: try Fixture.birth(
                name: "温室\u{9b}[31m, 2号",
                channels: [("co2 concentration", Unit("ppm") ?? .none, 0), ("tiny", .ampere, -9)]),
            readings: [
                Fixture.reading(1, at: 17_000, 412, scale: 0),
                Fixture.reading(2, at: 18_000, 415, scale: 0),
                Fixture.reading(3, channel: 2, at: 18_000, -3, scale: -9),
            ],
            arrival: Fixture.at(18_000), hops: 3)
        _ = aggregator.handle(.delivery(north), now: north.arrival)
        _ = aggregator.handle(.delivery(wide), now: wide.arrival)
        for case .window(let window) in aggregator.handle(.deadlineReached, now: Fixture.at(21_000))
        {
            return window
        }
        throw WireError.invalid(field: "no window")
    }
}
