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
        guard let product = raw.adding(offset)?.multiplied(by: scale) else { return nil }
        guard Int(product.exponent) < lastPlace else { return product }
        return product.rescaled(to: Int8(lastPlace))
    }
}
