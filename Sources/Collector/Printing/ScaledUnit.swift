import Telemetry

/// A unit with the prefix that suits the size of the numbers beside it: `24.62 GiB`.
///
/// Bytes go by 1,024; units that the SI gives prefixes go by 1,000, from a million on.
package struct ScaledUnit: Hashable {
    package let symbol: String
    /// The number shown is the one measured over this: 1,024^n or 10^n.
    private let divisor: Double
    /// The n of 10^n; 0 for bytes, whose quotients have no end.
    private let power: Int8
    private let isBinary: Bool

    /// - Parameter values: all that are shown in this unit.
    package init(_ unit: Unit, _ values: [DecimalValue?]) {
        let largest = values.reduce(0) { max($0, abs($1?.double ?? 0)) }
        var divisor = 1.0
        var power: Int8 = 0
        var prefix = ""
        isBinary = Self.binaryUnits.contains(unit.name)
        if isBinary {
            for letter in ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"] where largest >= divisor * 1_024 {
                divisor *= 1_024
                prefix = letter
            }
        } else if Self.prefixedUnits.contains(unit.name), largest >= 1e6 {
            (divisor, power, prefix) = (1e6, 6, "M")
            for letter in ["G", "T", "P"] where largest >= divisor * 1e3 {
                (divisor, power, prefix) = (divisor * 1e3, power + 3, letter)
            }
        }
        self.divisor = divisor
        self.power = power
        symbol = prefix + unit.symbol
    }

    package func text(_ value: DecimalValue, width: Int) -> String {
        if divisor == 1 { return NumberText.compact(value, width: width) }
        if isBinary { return binary(value.double, width: width) }
        let number = value.normalized
        let exponent = Int8(clamping: Int(number.exponent) - Int(power))
        return NumberText.compact(
            DecimalValue(coefficient: number.coefficient, exponent: exponent), width: width)
    }

    /// - Parameter places: of a number in the unit without a prefix.
    package func mean(_ value: Double, places: Int, width: Int) -> String {
        if divisor == 1 { return NumberText.mean(value, places: places, width: width) }
        if isBinary { return binary(value, width: width) }
        return NumberText.compact(value / divisor, places: 4, width: width)
    }

    /// Four digits.
    private func binary(_ value: Double, width: Int) -> String {
        let number = value / divisor
        let places = number == 0 ? 0 : abs(number) < 10 ? 3 : abs(number) < 100 ? 2 : 1
        return NumberText.compact(number, places: places, width: width)
    }

    private static let binaryUnits = ["B", "B/s"]
    private static let prefixedUnits = [
        "Hz", "W", "J", "V", "A", "Pa", "VA", "VAs", "var", "vars", "Wh", "varh", "bit", "bit/s",
        "Ohm",
    ]
}
