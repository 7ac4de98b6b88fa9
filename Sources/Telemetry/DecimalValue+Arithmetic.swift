/// Exact, or nothing.
extension DecimalValue {
    /// Nil if the sum does not fit.
    public func adding(_ other: DecimalValue) -> DecimalValue? {
        let exponent = min(exponent, other.exponent)
        guard let left = exactlyRescaled(to: exponent),
            let right = other.exactlyRescaled(to: exponent)
        else { return nil }
        let (sum, overflow) = left.coefficient.addingReportingOverflow(right.coefficient)
        return overflow ? nil : DecimalValue(coefficient: sum, exponent: exponent)
    }

    /// Nil if the difference does not fit.
    public func subtracting(_ other: DecimalValue) -> DecimalValue? {
        guard other.coefficient != .min else { return nil }
        return adding(DecimalValue(coefficient: -other.coefficient, exponent: other.exponent))
    }

    /// Nil if the product does not fit.
    public func multiplied(by other: DecimalValue) -> DecimalValue? {
        let (product, overflow) = coefficient.multipliedReportingOverflow(by: other.coefficient)
        guard !overflow, let exponent = Int8(exactly: Int(exponent) + Int(other.exponent)) else {
            return nil
        }
        return DecimalValue(coefficient: product, exponent: exponent)
    }

    /// How far it is from zero.
    public var magnitude: DecimalValue {
        DecimalValue(
            coefficient: coefficient == .min ? .max : abs(coefficient), exponent: exponent)
    }
}
