import NearbyCore
import Telemetry
import Testing

@testable import Collector

/// Tables at many widths, against files that show them.
@Suite struct TableLayoutTests {
    private let clock = ShownClock(unixOffset: .seconds(1_795_239_900))

    @Test(arguments: [24, 40, 60, 80, 100, 132, 200])
    func tablesFitTheTerminal(width: Int) throws {
        var printer = TablePrinter(settings: .init(width: width))
        let text = printer.print(try garden(), clock: clock)
        #expect(text == golden("table-\(width)"))
        for line in text.split(separator: "\n") {
            #expect(PrintableText(String(line)).width <= width)
        }
    }

    @Test(arguments: 1...220)
    func everyWidthIsKept(width: Int) throws {
        var printer = TablePrinter(settings: .init(width: width))
        for line in printer.print(try garden(), clock: clock).split(separator: "\n") {
            #expect(PrintableText(String(line)).width <= width)
        }
    }

    @Test(arguments: 1...30)
    func everyHeightIsKept(lines: Int) throws {
        var printer = TablePrinter(settings: .init(isLive: true, lines: lines))
        let text = printer.print(try garden(), clock: clock, footer: ["also connected: relay"])
        #expect(text.filter { $0 == "\n" }.count <= max(lines - 1, 1))
    }

    @Test func reasonsStandWholeInEightyColumns() throws {
        var printer = TablePrinter()
        let text = printer.print(try garden(), clock: clock)
        #expect(text.contains("command-failed"))
        #expect(text.contains("out-of-range"))
    }

    @Test func eachNodeThatDoesNotFitIsSummedUp() throws {
        var printer = TablePrinter(settings: .init(isLive: true, lines: 9))
        let lines = printer.print(try garden(), clock: clock).split(separator: "\n").dropLast()
        #expect(lines.count == 8)
        #expect(lines.contains { $0.contains("more channels") || $0.contains("… 4 channels") })
        var tiny = TablePrinter(settings: .init(isLive: true, lines: 4))
        #expect(tiny.print(try garden(), clock: clock).contains("… and 5 more nodes"))
    }

    @Test func whatFellSilentIsRedAndOnlyWithColours() throws {
        var aggregator = WindowAggregator()
        let birth = try Fixture.birth(channels: [("fast", .celsius, 0), ("slow", .celsius, 0)])
        var windows: [Window] = []
        func give(_ readings: [Reading], at milliseconds: Int64) {
            let delivery = Delivery(
                peer: Fixture.peer(1), birth: birth, readings: readings,
                arrival: Fixture.at(milliseconds))
            for case .window(let window) in aggregator.handle(
                .delivery(delivery), now: Fixture.at(milliseconds))
            {
                windows.append(window)
            }
        }
        var sequence: UInt64 = 0
        for second in 0..<60 as Range<Int64> {
            sequence += 1
            var readings: [Reading] = []
            if second < 20 {
                readings.append(Fixture.reading(sequence, at: second * 1_000, 1, scale: 0))
            } else if second == 20 {
                readings.append(
                    Fixture.reading(sequence, channel: 2, at: second * 1_000, 1, scale: 0))
            }
            give(readings, at: second * 1_000)
        }
        var printer = TablePrinter(settings: .init(hasColours: true))
        let tables = windows.map { printer.print($0, clock: clock) }
        let red = tables.map { $0.contains("\u{1b}[31m") }
        #expect(red.first == false)
        #expect(red.last == true)
        let last = tables.last?.split(separator: "\n").last
        let line = try #require(last)
        #expect(line.contains("slow") && !line.contains("\u{1b}"))
        var plain = TablePrinter()
        #expect(windows.allSatisfy { !plain.print($0, clock: clock).contains("\u{1b}") })
    }

    /// Five nodes; two whose names differ at the end, two with one name, one that failed.
    private func garden() throws -> Window {
        let temperature: (String, Unit, Int8) = ("air.temperature", .celsius, -2)
        var rows: [Window.Row] = []
        rows += try node(
            1, "greenhouse-north",
            [temperature, ("memory.free", .byte, 0), ("uptime", .second, 0)],
            [.value(decimal(2153, -2)), .value(decimal(26_432_000_000)), .value(decimal(86_400))])
        rows += try node(
            2, "greenhouse-south",
            [
                temperature, ("soil.moisture.at.30cm", .percent, -1),
                ("soil.moisture.at.60cm", .percent, -1), ("net.wlan0.received", .byte, 0),
            ],
            [
                .value(decimal(-512, -2)), .value(decimal(415, -1)), .null(.outOfRange),
                .value(decimal(1_023)),
            ])
        rows += try node(
            3, "barn", [("co2", Unit("ppm") ?? .none, 0), ("leak.current", .ampere, -9)],
            [.null(.commandFailed), .value(decimal(123, -9))])
        rows += try node(4, "barn", [("radio", .hertz, 0)], [.value(decimal(2_412_000_000))])
        rows += try node(
            5, "温室の北側にあるとても長い名前", [("door.opened.total", .count, 0)], [.value(decimal(3))])
        return Window(start: Fixture.at(10_000), width: .seconds(10), isClosed: true, rows: rows)
    }

    private func decimal(_ coefficient: Int64, _ exponent: Int8 = 0) -> DecimalValue {
        DecimalValue(coefficient: coefficient, exponent: exponent)
    }

    private func node(
        _ number: UInt64, _ name: String, _ channels: [(String, Unit, Int8)], _ last: [Outcome]
    ) throws -> [Window.Row] {
        let birth = try Fixture.birth(name: name, channels: channels)
        return zip(birth.channels, last).map { channel, last in
            let value = last.value
            return Window.Row(
                peer: Fixture.peer(number), run: birth.run, node: birth.node, channel: channel,
                statistics: Statistics(
                    count: value == nil ? 0 : 10, nullCount: value == nil ? 10 : 0, min: value,
                    max: value, mean: value?.double, standardDeviation: nil, p50: value?.double,
                    p95: value?.double, areQuantilesExact: true),
                rate: 1, last: last, age: .seconds(2), lateCount: 0, lostCount: 0, hops: 1,
                rank: .network)
        }
    }
}
