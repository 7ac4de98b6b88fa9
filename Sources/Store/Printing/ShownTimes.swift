import Collector
import Glibc
import NearbyCore

/// In which zone times are shown to people.
public enum ShownTimes: Hashable, Sendable {
    case utc
    /// As this machine is set (`TZ`, /etc/localtime), at each time what held then.
    case local
    case offset(seconds: Int64)

    /// `2026-11-21 06:45:00`; milliseconds are written unless they are zero.
    ///
    /// - Parameters:
    ///   - utc: nanoseconds since 1970.
    ///   - hasFraction: Whether milliseconds are written also where they are zero.
    public func text(_ utc: Int64, hasFraction: Bool = false) -> String {
        let shifted = utc.addingSaturating(offset(at: utc) * 1_000_000_000)
        let text = String(
            String.UnicodeScalarView(
                UTCText.text(shifted).unicodeScalars.compactMap {
                    $0 == "T" ? " " : $0 == "Z" ? nil : $0
                }))
        return hasFraction && !text.utf8.contains(UInt8(ascii: ".")) ? text + ".000" : text
    }

    /// For a column's header.
    var name: String {
        switch self {
        case .utc: "UTC"
        case .local: "local"
        case .offset(let seconds): seconds == 0 ? "UTC" : "local"
        }
    }

    /// East of Greenwich, seconds.
    ///
    /// - Parameter utc: nanoseconds since 1970.
    public func offset(at utc: Int64) -> Int64 {
        switch self {
        case .utc: return 0
        case .offset(let seconds): return min(max(seconds, -86_400), 86_400)
        case .local:
            var time = time_t(utc / 1_000_000_000)
            var parts = tm()
            return localtime_r(&time, &parts) == nil ? 0 : Int64(parts.tm_gmtoff)
        }
    }

    /// UTC of a time of day in this zone; where clocks are set back, the first of the two.
    ///
    /// - Parameter shown: nanoseconds since 1970, as if the zone were UTC.
    public func utc(shown: Int64) -> Int64 {
        let second: Int64 = 1_000_000_000
        let before = offset(at: shown.subtractingSaturating(86_400 * second))
        let first = shown.subtractingSaturating(before * second)
        return shown.subtractingSaturating(offset(at: first) * second)
    }
}
