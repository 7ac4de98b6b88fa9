/// Turns values of one unit into those of another of the same quantity, exactly where decimals can
/// say it.
///
/// Factors are fractions of whole numbers and powers of ten, as the units are defined (SI Brochure,
/// 9th edition; UCUM 2.1 for those that are not SI's), so nothing passes through binary floating
/// point.
public struct UnitConversion: Equatable, Sendable {
    private let from: Scale
    private let to: Scale

    /// A unit as the quantity's base unit sees it: base = (value + shift) × numerator ÷
    /// denominator × 10^exponent.
    struct Scale: Equatable, Sendable {
        let quantity: Quantity
        var numerator: Int64 = 1
        var denominator: Int64 = 1
        var exponent: Int = 0
        var shift = DecimalValue(coefficient: 0)
    }

    enum Quantity: Equatable, Sendable {
        case temperature, pressure, length, speed, mass, time, current, voltage, power
        case apparentPower, reactivePower, energy, apparentEnergy, reactiveEnergy, charge
        case frequency, rate, volume, flow, rainfall, share, data, dataRate, density, level
    }

    /// Nil if one of the units is unknown, or they measure different things.
    public init?(from source: String, to target: String) {
        guard let from = Self.scales[source], let to = Self.scales[target],
            from.quantity == to.quantity
        else { return nil }
        self.from = from
        self.to = to
    }

    /// Whether there is anything that this unit can be turned into.
    public static func knows(_ unit: String) -> Bool { scales[unit] != nil }

    /// All units that can be changed into others, in alphabetical order.
    public static var names: [String] { scales.keys.sorted() }

    /// The units that this one can be turned into, itself left out, in alphabetical order.
    public static func targets(of unit: String) -> [String] {
        guard let scale = scales[unit] else { return [] }
        return scales.filter { $0.value.quantity == scale.quantity && $0.key != unit }.map(\.key)
            .sorted()
    }

    /// The same amount in the other unit. What decimals cannot say in six more places is rounded to
    /// two more digits than the value had, of temperatures two more places. Nil if the result does
    /// not fit.
    public func callAsFunction(_ value: DecimalValue) -> DecimalValue? {
        if from == to { return value }
        guard let moved = value.adding(from.shift) else { return nil }
        let factor = Fraction(
            numerator: Int128(from.numerator) * Int128(to.denominator),
            denominator: Int128(from.denominator) * Int128(to.numerator),
            exponent: from.exponent - to.exponent)
        let places = from.quantity == .temperature ? min(Int(value.exponent), 0) - 2 : nil
        guard let scaled = factor.times(moved, places: places) else { return nil }
        return scaled.subtracting(to.shift)
    }

    /// What differences are multiplied by, and what is added then; in binary floating point, for
    /// means.
    public var factor: Double {
        let exponent = DecimalValue(
            coefficient: 1, exponent: Int8(clamping: from.exponent - to.exponent))
        let above = Double(from.numerator) * Double(to.denominator)
        return above / (Double(from.denominator) * Double(to.numerator)) * exponent.double
    }

    public var shift: Double { from.shift.double * factor - to.shift.double }

    static let scales: [String: Scale] = {
        var scales: [String: Scale] = [:]
        for (quantity, units) in table {
            for unit in units {
                scales[unit.name] = Scale(
                    quantity: quantity, numerator: unit.numerator, denominator: unit.denominator,
                    exponent: unit.exponent, shift: unit.shift)
            }
        }
        return scales
    }()
}

/// A rational number times a power of ten.
private struct Fraction {
    var numerator: Int128
    var denominator: Int128
    var exponent: Int

    /// - Parameter places: the exponent to round to where it does not come out even; nil: by the
    ///   number of digits.
    func times(_ value: DecimalValue, places: Int?) -> DecimalValue? {
        let (product, overflow) = Int128(value.coefficient).multipliedReportingOverflow(
            by: numerator)
        guard !overflow else { return nil }
        let power = Int(value.exponent) + exponent
        // Even within six more places?
        var rest = product
        var shift = 0
        while rest % denominator != 0, shift < 6 {
            let (next, overflow) = rest.multipliedReportingOverflow(by: 10)
            guard !overflow else { break }
            rest = next
            shift += 1
        }
        if rest % denominator == 0 { return Self.decimal(rest / denominator, power - shift) }
        let digits = Self.digits(Int128(value.coefficient)) + 2
        let size = Self.digits(product) - Self.digits(denominator)
        return rounded(product, power, to: places ?? power + size - digits)
    }

    private static func digits(_ number: Int128) -> Int {
        var (rest, count) = (number / 10, 1)
        while rest != 0 { (rest, count) = (rest / 10, count + 1) }
        return count
    }

    private func rounded(_ product: Int128, _ power: Int, to places: Int) -> DecimalValue? {
        var (scaled, divisor) = (product, denominator)
        for _ in 0..<abs(power - places) {
            if power > places {
                let (next, overflow) = scaled.multipliedReportingOverflow(by: 10)
                guard !overflow else { return nil }
                scaled = next
            } else {
                let (next, overflow) = divisor.multipliedReportingOverflow(by: 10)
                guard !overflow else { return Self.decimal(0, places) }
                divisor = next
            }
        }
        let (quotient, remainder) = scaled.quotientAndRemainder(dividingBy: divisor)
        let isUp = remainder.magnitude >= divisor.magnitude - remainder.magnitude
        let sign: Int128 = (scaled < 0) != (divisor < 0) ? -1 : 1
        return Self.decimal(quotient + (isUp ? sign : 0), places)
    }

    /// Trailing zeros stay, so that 101300 Pa are 1013.00 hPa as 101325 Pa are 1013.25; they go
    /// where the coefficient would not fit otherwise.
    private static func decimal(_ coefficient: Int128, _ exponent: Int) -> DecimalValue? {
        var (coefficient, exponent) = (coefficient, exponent)
        while Int64(exactly: coefficient) == nil, coefficient % 10 == 0 {
            coefficient /= 10
            exponent += 1
        }
        guard let small = Int64(exactly: coefficient), let power = Int8(exactly: exponent) else {
            return nil
        }
        return DecimalValue(coefficient: small, exponent: power)
    }
}
