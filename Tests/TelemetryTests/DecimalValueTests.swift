import NearbyCore
import Testing

@testable import Telemetry

@Suite struct DecimalValueTests {
    @Test(arguments: [
        ("21.53", 2153, -2), ("-4e-3", -4, -3), ("0", 0, 0), ("-0.50", -50, -2), ("+7", 7, 0),
        (".5", 5, -1), ("5.", 5, 0), ("1E3", 1, 3), ("007", 7, 0), ("1.5e+2", 15, 1),
        ("9223372036854775807", Int64.max, 0), ("-9223372036854775808", Int64.min, 0),
    ])
    func textIsReadExactly(text: String, coefficient: Int64, exponent: Int) throws {
        let value = try DecimalValue(parsing: text)
        #expect(value.coefficient == coefficient)
        #expect(Int(value.exponent) == exponent)
    }

    @Test(arguments: [
        "", "-", ".", "e5", "1e", "1.2.3", "nan", "inf", "0x10", " 1", "1 ", "1,5", "٣",
    ])
    func otherTextIsRefused(text: String) {
        #expect(throws: DecimalError.syntax) { try DecimalValue(parsing: text) }
    }

    @Test func absurdTextIsRefusedWithItsReason() {
        #expect(throws: DecimalError.outOfRange) { try DecimalValue(parsing: "1e200") }
        #expect(throws: DecimalError.outOfRange) { try DecimalValue(parsing: "1e-999999999999") }
        let long = String(repeating: "1", count: 65)
        #expect(throws: DecimalError.tooLong) { try DecimalValue(parsing: long) }
    }

    @Test func digitsBeyondSixtyFourBitsAreRounded() throws {
        let third = try DecimalValue(parsing: "0.33333333333333333333333333")
        #expect(third.description == "0.3333333333333333333")
        let large = try DecimalValue(parsing: "123456789012345678955")
        #expect(large == DecimalValue(coefficient: 1_234_567_890_123_456_790, exponent: 2))
        let most = try DecimalValue(parsing: "92233720368547758079")
        #expect(most.exponent == 1)
    }

    @Test(arguments: [
        (2153, -2, "21.53"), (-5, -3, "-0.005"), (0, -2, "0.00"), (15, 3, "15000"), (0, 3, "0"),
        (15, 9, "15e9"), (7, -30, "7e-30"), (Int64.min, 0, "-9223372036854775808"),
        (Int64.min, -19, "-0.9223372036854775808"),
    ])
    func printingIsExact(coefficient: Int64, exponent: Int, text: String) {
        #expect(
            DecimalValue(coefficient: coefficient, exponent: Int8(exponent)).description == text)
    }

    @Test func whatIsPrintedIsReadBack() throws {
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<5_000 {
            let value = DecimalValue.random(using: &generator)
            #expect(try DecimalValue(parsing: value.description) == value)
        }
    }

    @Test func equalNumbersAreEqualAndHashAlike() {
        let one = DecimalValue(coefficient: 1)
        let longer = DecimalValue(coefficient: 1_000, exponent: -3)
        #expect(one == longer)
        #expect(one.hashValue == longer.hashValue)
        #expect(DecimalValue(coefficient: 0, exponent: 100) == DecimalValue(coefficient: 0))
    }

    @Test func orderIsNumericAtTheExtremes() {
        let small = DecimalValue(coefficient: .max, exponent: -128)
        let large = DecimalValue(coefficient: 1, exponent: 127)
        let ordered = [
            DecimalValue(coefficient: .min, exponent: 127),
            DecimalValue(coefficient: -1, exponent: 127),
            DecimalValue(coefficient: .min, exponent: -128), DecimalValue(coefficient: 0),
            DecimalValue(coefficient: 1, exponent: -128), small, large,
            DecimalValue(coefficient: .max, exponent: 127),
        ]
        for (index, one) in ordered.enumerated() {
            for (other, two) in ordered.enumerated() { #expect((one < two) == (index < other)) }
        }
    }

    @Test func rescalingRoundsHalfAwayFromZero() {
        #expect(DecimalValue(coefficient: 25, exponent: -1).rescaled(to: 0)?.coefficient == 3)
        #expect(DecimalValue(coefficient: -25, exponent: -1).rescaled(to: 0)?.coefficient == -3)
        #expect(DecimalValue(coefficient: 24, exponent: -1).rescaled(to: 0)?.coefficient == 2)
        #expect(DecimalValue(coefficient: .min, exponent: -128).rescaled(to: 127)?.coefficient == 0)
        #expect(DecimalValue(coefficient: .max).rescaled(to: -1) == nil)
        #expect(DecimalValue(coefficient: 25, exponent: -1).exactlyRescaled(to: 0) == nil)
        #expect(
            DecimalValue(coefficient: 20, exponent: -1).exactlyRescaled(to: 0)?.coefficient == 2)
    }

    @Test func productsAreExactWhileTheyFitAndThenRounded() {
        for (one, two, product) in [
            ("2.50", "-4", "-10.00"), ("0", "1e100", "0e100"), ("-0.0005", "-3", "0.0015"),
            ("9223372036854775807", "10", "922337203685477581e2"),
            ("3037000500", "3037000500", "922337203700025e4"),
            ("-9223372036854775807", "0.5", "-4611686018427387904"),
        ] as [(String, String, String)] {
            guard let one = try? DecimalValue(parsing: one),
                let two = try? DecimalValue(parsing: two),
                let expected = try? DecimalValue(parsing: product)
            else { continue }
            let result = one.multiplied(by: two)
            #expect(result == expected, "\(one) × \(two)")
        }
        let most = DecimalValue(coefficient: .min, exponent: 127)
        #expect(most.multiplied(by: most) == nil)
        #expect(DecimalValue(coefficient: 1, exponent: -128).multiplied(by: most) != nil)
        // Nothing added is nothing changed, also where its places would not fit.
        let fine = DecimalValue(coefficient: 0, exponent: -3)
        #expect(DecimalValue(coefficient: .max).adding(fine)?.coefficient == .max)
    }

    @Test func theDoubleIsTheNearest() {
        #expect(DecimalValue(coefficient: 2153, exponent: -2).double == 21.53)
        #expect(DecimalValue(coefficient: 1, exponent: 22).double == 1e22)
        #expect(DecimalValue(coefficient: .max, exponent: 127).double.isFinite)
        #expect(DecimalValue(coefficient: 1, exponent: -128).double > 0)
    }
}

extension DecimalValue {
    /// Coefficients of every length, exponents over the whole range.
    static func random(using generator: inout SeededGenerator) -> DecimalValue {
        let bits = Int64.random(in: 0...63, using: &generator)
        let coefficient = Int64(bitPattern: generator.next()) >> bits
        return DecimalValue(
            coefficient: coefficient, exponent: Int8.random(in: -100...100, using: &generator))
    }
}
