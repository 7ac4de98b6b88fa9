import NearbyCore
import Testing

@testable import Collector

@Suite struct ShortNamesTests {
    @Test func namesAreShortenedInTheMiddle() {
        let names = ShortNames(["greenhouse-north", "greenhouse-south", "barn"], columns: 10)
        #expect(names["greenhouse-north"] == "gree…north")
        #expect(names["greenhouse-south"] == "gree…south")
        #expect(names["barn"] == "barn")
    }

    @Test func whereTheMiddleDiffersItIsKept() {
        let names = ShortNames(["sensor-a-temperature", "sensor-b-temperature"], columns: 10)
        #expect(names["sensor-a-temperature"] != names["sensor-b-temperature"])
        #expect(PrintableText(names["sensor-a-temperature"]).width <= 10)
    }

    @Test func whatCannotBeToldApartIsNumbered() {
        let all = ["a\u{200b}b", "ab", "a\u{200c}b"]
        let names = ShortNames(all, columns: 10)
        #expect(Set(all.map { names[$0] }).count == 3)
    }

    @Test func allNamesStayDifferentAndFit() {
        var generator = SeededGenerator(seed: 5)
        for columns in [4, 7, 10, 15] {
            for _ in 0..<40 {
                let all = (0..<60).map { _ in
                    String(
                        (0..<Int.random(in: 1...24, using: &generator)).map { _ in
                            "aab温é".randomElement(using: &generator) ?? "a"
                        })
                }
                let names = ShortNames(all, columns: columns)
                #expect(Set(all.map { names[$0] }).count == Set(all).count)
                for name in all { #expect(PrintableText(names[name]).width <= columns) }
            }
        }
    }
}
