import Collector
import Glibc
import NearbyCore

extension ShownClock.Zone {
    /// What holds in this machine's zone (`TZ`, /etc/localtime) at that time.
    ///
    /// - Parameter unix: since 1970-01-01T00:00:00Z.
    static func local(at unix: Instant) -> Self {
        var time = time_t(unix.nanoseconds / 1_000_000_000)
        var parts = tm()
        guard localtime_r(&time, &parts) != nil, let name = parts.tm_zone else { return .utc }
        return Self(name: String(cString: name), secondsEast: Int64(parts.tm_gmtoff))
    }
}
