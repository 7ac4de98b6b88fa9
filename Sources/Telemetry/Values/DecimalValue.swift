/// A decimal number: coefficient × 10^exponent. Readings are carried, compared and stored so;
/// binary floating point appears only in statistics and printing.
///
/// Equality and order are numeric: 1.0 equals 1. The exponent is kept, because it says how many
/// places the sensor gave: `21.50` prints as `21.50`.
public struct DecimalValue: Sendable {
    public let coefficient: Int64
    public let exponent: Int8

    public init(coefficient: Int64, exponent: Int8 = 0) {
        self.coefficient = coefficient
        self.exponent = exponent
    }

    /// The nearest double; exact to the last bit while the coefficient is under 2^53 and the
    /// exponent within ±22.
    public var double: Double {
        var value = Double(coefficient)
        var rest = abs(Int(exponent))
        while rest > 0 {
            let step = min(rest, Self.doublePowers.count - 1)
            value = exponent < 0 ? value / Self.doublePowers[step] : value * Self.doublePowers[step]
            rest -= step
        }
        return value
    }

    /// The same number with another exponent; lost digits are rounded half away from zero. Nil if
    /// the coefficient would not fit.
    public func rescaled(to target: Int8) -> DecimalValue? {
        let shift = Int(exponent) - Int(target)
        if coefficient == 0 { return DecimalValue(coefficient: 0, exponent: target) }
        if shift < 0 {
            let rounded = Self.dividing(coefficient, byPowerOfTen: -shift)
            return DecimalValue(coefficient: rounded, exponent: target)
        }
        guard let scaled = Self.multiplying(coefficient, byPowerOfTen: shift) else { return nil }
        return DecimalValue(coefficient: scaled, exponent: target)
    }

    /// As `rescaled`, but nil also when a digit would be lost.
    public func exactlyRescaled(to target: Int8) -> DecimalValue? {
        guard let result = rescaled(to: target), result == self else { return nil }
        return result
    }

    /// Without trailing zeros in the coefficient: one form for each number.
    public var normalized: DecimalValue {
        guard coefficient != 0 else { return DecimalValue(coefficient: 0) }
        var (digits, power) = (coefficient, exponent)
        while digits % 10 == 0, power < .max {
            digits /= 10
            power += 1
        }
        return DecimalValue(coefficient: digits, exponent: power)
    }

    private static let doublePowers: [Double] = [
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
        1e17,
        1e18, 1e19, 1e20, 1e21, 1e22,
    ]

    fileprivate static func multiplying(_ value: Int64, byPowerOfTen power: Int) -> Int64? {
        guard power <= 18 else { return value == 0 ? 0 : nil }
        var result = value
        for _ in 0..<power {
            let (product, overflow) = result.multipliedReportingOverflow(by: 10)
            if overflow { return nil }
            result = product
        }
        return result
    }

    private static func dividing(_ value: Int64, byPowerOfTen power: Int) -> Int64 {
        guard power <= 19 else { return 0 }
        var divisor: UInt64 = 1
        for _ in 0..<power { divisor *= 10 }
        let (quotient, remainder) = value.magnitude.quotientAndRemainder(dividingBy: divisor)
        let rounded = Int64(quotient + (remainder >= divisor / 2 ? 1 : 0))
        return value < 0 ? -rounded : rounded
    }
}

extension DecimalValue: Comparable, Hashable {
    public static func == (left: DecimalValue, right: DecimalValue) -> Bool {
        !(left < right) && !(right < left)
    }

    public static func < (left: DecimalValue, right: DecimalValue) -> Bool {
        if left.exponent == right.exponent { return left.coefficient < right.coefficient }
        if left.coefficient.signum() != right.coefficient.signum() {
            return left.coefficient.signum() < right.coefficient.signum()
        }
        let shift = Int(left.exponent) - Int(right.exponent)
        // The side with the larger exponent is brought down; if it does not fit, it is the larger
        // in magnitude.
        if shift > 0 {
            guard let scaled = multiplying(left.coefficient, byPowerOfTen: shift) else {
                return left.coefficient < 0
            }
            return scaled < right.coefficient
        }
        guard let scaled = multiplying(right.coefficient, byPowerOfTen: -shift) else {
            return right.coefficient > 0
        }
        return left.coefficient < scaled
    }

    public func hash(into hasher: inout Hasher) {
        let form = normalized
        hasher.combine(form.coefficient)
        hasher.combine(form.exponent)
    }
}
