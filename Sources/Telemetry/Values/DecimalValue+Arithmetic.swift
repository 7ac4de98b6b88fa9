extension DecimalValue {
    /// Exact; nil if the sum does not fit.
    public func adding(_ other: DecimalValue) -> DecimalValue? {
        if other.coefficient == 0 { return self }
        let exponent = min(exponent, other.exponent)
        guard let left = exactlyRescaled(to: exponent),
            let right = other.exactlyRescaled(to: exponent)
        else { return nil }
        let (sum, overflow) = left.coefficient.addingReportingOverflow(right.coefficient)
        return overflow ? nil : DecimalValue(coefficient: sum, exponent: exponent)
    }

    /// Exact; nil if the difference does not fit.
    public func subtracting(_ other: DecimalValue) -> DecimalValue? {
        guard other.coefficient != .min else { return nil }
        return adding(DecimalValue(coefficient: -other.coefficient, exponent: other.exponent))
    }

    /// Exact while 63 bits hold it; otherwise the last digits are rounded off, half away from zero.
    /// Nil if it is out of range all the same.
    public func multiplied(by other: DecimalValue) -> DecimalValue? {
        let isNegative = (coefficient < 0) != (other.coefficient < 0)
        let (high, low) = coefficient.magnitude.multipliedFullWidth(by: other.coefficient.magnitude)
        var power = Int(exponent) + Int(other.exponent)
        var magnitude = low
        if high > 0 || low > UInt64(Int64.max) {
            var divisor: UInt64 = 1
            repeat {
                divisor *= 10
                power += 1
                guard high < divisor else { continue }
                let (quotient, remainder) = divisor.dividingFullWidth((high, low))
                // One is left free for rounding up.
                guard quotient < UInt64(Int64.max) else { continue }
                magnitude = quotient + (remainder >= divisor / 2 ? 1 : 0)
                break
            } while divisor < 10_000_000_000_000_000_000
        }
        guard magnitude <= UInt64(Int64.max), let narrow = Int8(exactly: power) else { return nil }
        let product = Int64(magnitude)
        return DecimalValue(coefficient: isNegative ? -product : product, exponent: narrow)
    }

    /// How far it is from zero.
    public var magnitude: DecimalValue {
        DecimalValue(
            coefficient: coefficient == .min ? .max : abs(coefficient), exponent: exponent)
    }
}
