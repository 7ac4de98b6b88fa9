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
        let isNothing = roundsToZero(value, places: most)
        for fewer in stride(from: most, through: 0, by: -1) {
            // Places are given up, but not all that is left of a small number.
            if !isNothing, roundsToZero(value, places: fewer) { break }
            let text = fixed(value, places: fewer)
            if text.utf8.count <= width { return text }
        }
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

    /// The exact number where it fits, else as `compact`.
    package static func compact(_ value: DecimalValue, width: Int) -> String {
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

    /// `14s`, `3m`, `5h`, `9d`: at most 3 columns.
    static func age(_ age: Duration) -> String {
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

    private static func exponential(_ value: Double, width: Int) -> String {
        var (mantissa, exponent) = (abs(value), 0)
        while mantissa >= 9.5 {
            mantissa /= 10
            exponent += 1
        }
        while mantissa < 0.95, mantissa > 0 {
            mantissa *= 10
            exponent -= 1
        }
        let text = (value < 0 ? "-" : "") + fixed(mantissa, places: 0) + "e\(exponent)"
        return text.utf8.count <= width ? text : String(repeating: "#", count: width)
    }
}
