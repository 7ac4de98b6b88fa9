import Testing

@testable import Telemetry

struct UnitConversionTests {
    private func converted(_ text: String, _ from: String, _ to: String) -> String? {
        guard let value = try? DecimalValue(parsing: text),
            let conversion = UnitConversion(from: from, to: to)
        else { return nil }
        return conversion(value)?.description
    }

    /// By the units' definitions.
    @Test(
        arguments: [
            ("21.5", "Cel", "K", "294.65"), ("0", "K", "Cel", "-273.15"),
            ("21.5", "Cel", "[degF]", "70.7"), ("-40", "[degF]", "Cel", "-40"),
            ("70.5", "[degF]", "Cel", "21.389"), ("451", "[degF]", "K", "505.93"),
            ("101325", "Pa", "hPa", "1013.25"), ("1013.25", "hPa", "mm[Hg]", "759.99989"),
            ("1", "bar", "[psi]", "14.5"), ("2.5", "kWh", "J", "9000000"),
            ("9000001", "J", "kWh", "2.500000278"), ("36", "km/h", "m/s", "10"),
            ("10", "m/s", "km/h", "36"), ("1", "[kn_i]", "m/s", "0.514"),
            ("0.2794", "mm", "[in_i]", "0.011"), ("90", "min", "h", "1.5"),
            ("1", "GiB", "KiB", "1048576"), ("8", "bit", "B", "1"),
            ("425", "ppm", "%", "0.0425"), ("-67", "dBm", "dBW", "-97"),
            ("1.2", "Ah", "C", "4320"), ("12", "l/min", "m3/h", "0.72"),
        ] as [(String, String, String, String)])
    func convertsAsDefined(_ text: String, _ from: String, _ to: String, _ expected: String) {
        let result = converted(text, from, to).flatMap { try? DecimalValue(parsing: $0) }
        let wanted = try? DecimalValue(parsing: expected)
        #expect(result == wanted, "\(text) \(from) is \(converted(text, from, to) ?? "nil") \(to)")
    }

    /// How fine a sensor is does not depend on what it measures just now.
    @Test(arguments: ["101325", "101320", "101300", "100000"])
    func zerosAtTheEndStay(_ pascals: String) {
        #expect(converted(pascals, "Pa", "hPa")?.utf8.count == 7)
    }

    @Test func differentQuantitiesDoNotConvert() {
        #expect(UnitConversion(from: "Pa", to: "K") == nil)
        #expect(UnitConversion(from: "%RH", to: "%") == nil)
        #expect(UnitConversion(from: "1/s", to: "Hz") == nil)
        #expect(UnitConversion(from: "furlong", to: "m") == nil)
        #expect(UnitConversion.targets(of: "dBm") == ["dBW"])
    }

    @Test func noNameComesTwice() {
        let names = UnitConversion.table.flatMap { $0.units.map(\.name) }
        #expect(names.count == Set(names).count)
        for name in names { #expect(Unit(name) != nil) }
    }

    /// What is too large is nothing, never a wrong number and never a trap.
    @Test func extremesAreNil() {
        let most = DecimalValue(coefficient: .max, exponent: 0)
        #expect(UnitConversion(from: "kWh", to: "uJ")?(most)?.double ?? 0 >= 0)
        for from in UnitConversion.names {
            for to in UnitConversion.targets(of: from) {
                for exponent: Int8 in [-128, -20, 0, 20, 127] {
                    for coefficient in [Int64.min, -1, 0, 1, 3, .max] {
                        let value = DecimalValue(coefficient: coefficient, exponent: exponent)
                        guard let result = UnitConversion(from: from, to: to)?(value) else {
                            continue
                        }
                        if coefficient == 0, from != "K" { _ = result }
                    }
                }
            }
        }
    }

    /// There and back is the same number, but for the rounding of a value of one digit.
    @Test func thereAndBack() {
        for from in UnitConversion.names {
            for to in UnitConversion.targets(of: from) {
                let value = DecimalValue(coefficient: 900_000, exponent: -3)
                guard let there = UnitConversion(from: from, to: to)?(value),
                    let back = UnitConversion(from: to, to: from)?(there)
                else { continue }
                #expect(abs(back.double - 900) < 0.51, "\(from) to \(to): \(there), \(back)")
            }
        }
    }
}
