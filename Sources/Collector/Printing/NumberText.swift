import NearbyCore
import Telemetry

/// Numbers as people read them. Binary floating point ends here.
package enum NumberText {
    /// With so many places (0–15), rounded half away from zero; `-` for what is no finite number.
    static func fixed(_ value: Double, places: Int) -> String {
        guard value.isFinite else { return "-" }
        let places = min(max(places, 0), 15)
        var factor = 1.0
        for _ in 0..<places { factor *= 10 }
        let scaled = (value * factor).rounded(.toNearestOrAwayFromZero)
        guard abs(scaled) < 9e18 else { return value.description }
        return DecimalValue(coefficient: Int64(scaled), exponent: Int8(-places)).description
    }

    /// At most `width` columns: fewer places, then a letter for thousands; at worst an exponent.
    package static func compact(_ value: Double, places: Int, width: Int) -> String {
        guard value.isFinite else { return "-" }
        let most = min(max(places, 0), 15)
        if let text = fixed(value, most: most, width: width) { return text }
        var rest = value
        for letter in ["k", "M", "G", "T", "P", "E"] where abs(value) >= 1 {
            rest /= 1000
            guard abs(rest) < 999.5 else { continue }
            for fewer in stride(from: 3, through: 0, by: -1) {
                let text = fixed(rest, places: fewer) + letter
                if text.utf8.count <= width { return text }
            }
        }
        return exponential(value, width: width)
    }

    /// With as many places as fit. Nil where no whole number fits, and where so little would be
    /// left of a small number that an exponent says more.
    private static func fixed(_ value: Double, most: Int, width: Int) -> String? {
        for fewer in stride(from: most, through: 0, by: -1) {
            let text = fixed(value, places: fewer)
            guard text.utf8.count <= width else { continue }
            if fewer == most || abs(value) >= 1 { return text }
            if roundsToZero(value, places: most) { return text }
            if roundsToZero(value, places: fewer) { return nil }
            let short = exponential(value, width: width)
            return significantDigits(short) > significantDigits(text) ? nil : text
        }
        return nil
    }

    /// Digits from the first that is not 0, without an exponent.
    private static func significantDigits(_ text: String) -> Int {
        text.utf8.prefix { $0 != UInt8(ascii: "e") }
            .drop { !(UInt8(ascii: "1")...UInt8(ascii: "9")).contains($0) }
            .count { $0 != UInt8(ascii: ".") }
    }

    /// The exact number where it fits, else as `compact`.
    static func compact(_ value: DecimalValue, width: Int) -> String {
        let exact = value.description
        if exact.utf8.count <= width { return exact }
        return compact(value.double, places: max(0, -Int(value.exponent)), width: width)
    }

    /// How many places a mean of these is worth: one more than the finest of them, or than the
    /// channel's scale, has.
    package static func meanPlaces(scale: Int8, _ values: DecimalValue?...) -> Int {
        let finest = values.reduce(scale) { min($0, $1?.exponent ?? $0) }
        return max(0, -Int(finest)) + 1
    }

    /// A mean with so many places, but without the `.0` of a whole number among whole numbers.
    package static func mean(_ value: Double, places: Int, width: Int) -> String {
        let text = compact(value, places: places, width: width)
        return places == 1 && text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    /// `14s`, `3m`, `5h`, `9d`: at most 3 columns.
    package static func age(_ age: Duration) -> String {
        let seconds = age.milliseconds / 1_000
        switch seconds {
        case ..<1: return "0s"
        case ..<100: return "\(seconds)s"
        case ..<6_000: return "\(seconds / 60)m"
        case ..<360_000: return "\(seconds / 3_600)h"
        default: return "\(min(seconds / 86_400, 99))d"
        }
    }

    /// A count in at most `width` columns.
    package static func count(_ count: Int, width: Int) -> String {
        let text = String(count)
        return text.utf8.count <= width ? text : compact(Double(count), places: 0, width: width)
    }

    private static func roundsToZero(_ value: Double, places: Int) -> Bool {
        var scaled = abs(value)
        for _ in 0..<places { scaled *= 10 }
        return scaled < 0.5
    }

    /// Three digits where they fit: `1.23e-7`.
    private static func exponential(_ value: Double, width: Int) -> String {
        for places in stride(from: 2, through: 0, by: -1) {
            let (mantissa, exponent) = scientific(abs(value), places: places)
            var digits = fixed(mantissa, places: places)
            while places > 0, digits.hasSuffix("0") { digits.removeLast() }
            if digits.hasSuffix(".") { digits.removeLast() }
            let text = (value < 0 ? "-" : "") + digits + "e\(exponent)"
            if text.utf8.count <= width { return text }
        }
        return String(repeating: "#", count: width)
    }

    /// A mantissa that does not become 10 when it is rounded.
    private static func scientific(_ value: Double, places: Int) -> (Double, exponent: Int) {
        var (mantissa, exponent) = (value, 0)
        var half = 0.5
        for _ in 0..<places { half /= 10 }
        while mantissa >= 10 - half {
            mantissa /= 10
            exponent += 1
        }
        while mantissa < 1 - half / 10, mantissa > 0 {
            mantissa *= 10
            exponent -= 1
        }
        return (mantissa, exponent)
    }
}
