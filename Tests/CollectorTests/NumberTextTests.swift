import NearbyCore
import Telemetry
import Testing

@testable import Collector

@Suite struct NumberTextTests {
    @Test(
        arguments: [
            (21.5166, 2, 8, "21.52"), (7_913_242_624.0, 0, 8, "7.913G"),
            (123_456.789, 3, 8, "123456.8"),
            (-123_456_789.0, 1, 8, "-123.46M"), (0.0000034, 9, 8, "3.4e-6"),
            (0.0000034, 9, 7, "3.4e-6"), (0.000000123, 9, 11, "0.000000123"),
            (0.000000123, 9, 8, "1.23e-7"), (0.0000034, 9, 5, "3e-6"), (0.0, 3, 8, "0.000"),
            (1e300, 0, 8, "1e+300"), (-1e-300, 15, 8, "0.000000"), (999_999_999.0, 0, 8, "1.000G"),
            (.nan, 2, 8, "-"), (0.4, 0, 8, "0"), (12_345.0, 0, 3, "12k"),
        ] as [(Double, Int, Int, String)])
    func numbersAreCutToTheirColumn(value: Double, places: Int, width: Int, text: String) {
        #expect(NumberText.compact(value, places: places, width: width) == text)
    }

    /// 21, then 21.53: the channel's scale was fixed by the first.
    @Test func aMeanIsFinerThanTheFinestOfItsValues() {
        let fine = DecimalValue(coefficient: 2153, exponent: -2)
        let coarse = DecimalValue(coefficient: 21)
        #expect(NumberText.meanPlaces(scale: 0, coarse, fine, coarse) == 3)
        #expect(NumberText.meanPlaces(scale: -3, coarse, nil, nil) == 4)
        #expect(NumberText.meanPlaces(scale: 2, nil, nil, nil) == 1)
    }

    @Test func noNumberIsWiderThanItsColumn() {
        var generator = SeededGenerator(seed: 11)
        for _ in 0..<20_000 {
            let value = Double(bitPattern: generator.next())
            let places = Int.random(in: 0...15, using: &generator)
            #expect(NumberText.compact(value, places: places, width: 8).utf8.count <= 8)
            let decimal = DecimalValue(
                coefficient: Int64(bitPattern: generator.next()),
                exponent: Int8(truncatingIfNeeded: generator.next()))
            #expect(NumberText.compact(decimal, width: 8).utf8.count <= 8)
            let count = Int(truncatingIfNeeded: generator.next() >> 1)
            #expect(NumberText.count(count, width: 3).utf8.count <= 3)
        }
    }

    @Test func agesAreShort() {
        let ages: [(Duration, String)] = [
            (.milliseconds(999), "0s"), (.seconds(99), "99s"), (.seconds(100), "1m"),
            (.seconds(5_999), "99m"), (.seconds(6_000), "1h"), (.seconds(360_000), "4d"),
            (.seconds(Int64.max), "99d"), (.seconds(-5), "0s"),
        ]
        for (age, text) in ages { #expect(NumberText.age(age) == text) }
    }

    @Test func foreignTextIsMadeFitForATerminal() {
        #expect(PrintableText("a\u{1b}[31m\nb\u{202e}").text == "a[31mb")
        #expect(PrintableText("温室").width == 4)
        #expect(PrintableText("e\u{301}").width == 1)
        #expect(PrintableText("温室").fitted(to: 3) == "温…")
        #expect(PrintableText("温室").fitted(to: 4) == "温室")
        #expect(PrintableText("a温室").fitted(to: 4) == "a温…")
        #expect(PrintableText("温室温").fitted(to: 4) == "温… ")
        #expect(PrintableText("ab").fitted(to: 4, alignRight: true) == "  ab")
        #expect(PrintableText("ab").fitted(to: 0) == "")
    }

    @Test func timestampsAreUTC() {
        let times: [(Int64, String)] = [
            (0, "1970-01-01T00:00:00Z"), (951_782_400_000, "2000-02-29T00:00:00Z"),
            (1_795_239_900_250, "2026-11-21T05:45:00.250Z"), (-1, "1969-12-31T23:59:59.999Z"),
            (4_102_444_799_000, "2099-12-31T23:59:59Z"),
        ]
        for (milliseconds, text) in times {
            #expect(ShownClock(unixOffset: .milliseconds(milliseconds)).timestamp(.zero) == text)
        }
        let clock = ShownClock(unixOffset: .seconds(1_795_239_900))
        #expect(clock.timestamp(.distantFuture).hasSuffix("Z"))
    }

    @Test func timesOfDayAreThoseOfTheZoneAndTimestampsAreNot() {
        var clock = ShownClock(unixOffset: .seconds(1_795_239_900))
        #expect(clock.timeOfDay(.zero) == "05:45:00")
        clock.zone = .init(name: "CET", secondsEast: 3_600)
        #expect(clock.timeOfDay(.zero) == "06:45:00")
        clock.zone = .init(name: "-0530", secondsEast: -19_800)
        #expect(clock.timeOfDay(Instant(nanoseconds: 0)) == "00:15:00")
        #expect(clock.timestamp(.zero) == "2026-11-21T05:45:00Z")
        clock.zone = .init(name: "odd", secondsEast: .max)
        #expect(clock.timeOfDay(.zero) == "05:45:00")
    }
}
