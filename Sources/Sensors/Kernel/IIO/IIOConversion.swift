import Telemetry

/// How the number that a channel gives becomes a value: (raw + offset) × scale × 10^exponent, in
/// whole numbers throughout.
struct IIOConversion: Equatable, Sendable {
    /// SenML's name; `1` where the kernel does not say what the number is.
    var unit: String
    var offset: DecimalValue
    var scale: DecimalValue
    /// Digits beyond are rounded off: the kernel prints nine decimals of a scale, whatever the part
    /// can tell apart.
    var lastPlace: Int

    /// Of a processed value, or of a raw one with its scale; a raw value without a scale is a bare
    /// number, but for a current. Nil where the scale is none.
    init?(
        _ channel: IIOChannel, offset: DecimalValue? = nil, scale: DecimalValue? = nil
    ) {
        let known = channel.isQuaternion ? nil : IIOQuantity.named(channel.type)
        let isBare = scale == nil && offset == nil && known?.isScaledAlready == true
        let hasUnit = channel.isProcessed || scale != nil || isBare
        let quantity = hasUnit ? known : nil
        let factor = (scale ?? DecimalValue(coefficient: 1)).normalized
        guard factor.coefficient != 0,
            let exponent = Int8(exactly: Int(factor.exponent) + (quantity?.exponent ?? 0))
        else { return nil }
        unit = quantity?.unit ?? "1"
        self.offset = (offset ?? DecimalValue(coefficient: 0)).normalized
        self.scale = DecimalValue(coefficient: factor.coefficient, exponent: exponent)
        let step = Int(exponent) + String(factor.coefficient.magnitude).utf8.count - 1
        lastPlace =
            channel.isProcessed
            ? quantity?.lastPlace ?? -9
            : min(quantity?.lastPlace ?? -9, step - 1)
        lastPlace = max(lastPlace, Int(Int8.min))
    }

    /// Nil where no 64-bit decimal holds it.
    func value(_ raw: DecimalValue) -> DecimalValue? {
        guard let sum = Self.sum(raw, offset), let product = Self.product(sum, scale) else {
            return nil
        }
        guard Int(product.exponent) < lastPlace else { return product }
        return product.rescaled(to: Int8(lastPlace))
    }

    /// Exact; nil if it does not fit.
    static func sum(_ left: DecimalValue, _ right: DecimalValue) -> DecimalValue? {
        if right.coefficient == 0 { return left }
        let exponent = min(left.exponent, right.exponent)
        guard let first = left.exactlyRescaled(to: exponent),
            let second = right.exactlyRescaled(to: exponent)
        else { return nil }
        let (sum, overflow) = first.coefficient.addingReportingOverflow(second.coefficient)
        return overflow ? nil : DecimalValue(coefficient: sum, exponent: exponent)
    }

    /// Exact while 63 bits hold it; otherwise the last digits are rounded off.
    static func product(_ left: DecimalValue, _ right: DecimalValue) -> DecimalValue? {
        let isNegative = (left.coefficient < 0) != (right.coefficient < 0)
        let (high, low) = left.coefficient.magnitude.multipliedFullWidth(
            by: right.coefficient.magnitude)
        var exponent = Int(left.exponent) + Int(right.exponent)
        var magnitude = low
        if high > 0 || low > UInt64(Int64.max) {
            var divisor: UInt64 = 1
            repeat {
                divisor *= 10
                exponent += 1
                guard high < divisor else { continue }
                let (quotient, remainder) = divisor.dividingFullWidth((high, low))
                // One is left free for rounding up.
                guard quotient < UInt64(Int64.max) else { continue }
                magnitude = quotient + (remainder >= divisor / 2 ? 1 : 0)
                break
            } while divisor < 10_000_000_000_000_000_000
        }
        guard magnitude <= UInt64(Int64.max), let narrow = Int8(exactly: exponent) else {
            return nil
        }
        let coefficient = Int64(magnitude)
        return DecimalValue(coefficient: isNegative ? -coefficient : coefficient, exponent: narrow)
    }
}
