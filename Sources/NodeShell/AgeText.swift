import NearbyCore

/// Spans of time for people.
package enum AgeText {
    /// `12 s`, `4 min`, `3 h`, `9 d`: whole units, rounded down.
    package static func text(_ age: Duration) -> String {
        let seconds = max(0, age.milliseconds / 1_000)
        switch seconds {
        case ..<60: return "\(seconds) s"
        case ..<3_600: return "\(seconds / 60) min"
        case ..<86_400: return "\(seconds / 3_600) h"
        default: return "\(seconds / 86_400) d"
        }
    }
}
