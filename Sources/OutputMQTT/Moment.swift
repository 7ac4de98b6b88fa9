import Glibc
import NearbyCore

/// What others say, fit for a log.
enum PrintableReason {
    static func text(_ outside: String) -> String {
        String(String.UnicodeScalarView(outside.unicodeScalars.prefix(200).filter(\.isPlain)))
    }
}

extension PrintableReason {
    /// Of OpenSSL's `error:0A000126:SSL routines::unexpected eof while reading` the words.
    static func withoutCodes(_ outside: String) -> String {
        let line = text(outside)
        guard line.contains("OpenSSL"), let last = line.split(separator: ":").last else {
            return line
        }
        return String(last)
    }
}

/// The monotonic clock.
struct Moment: Comparable {
    private var elapsed: Duration

    static var now: Moment {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Moment(elapsed: .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec))
    }

    static func + (moment: Moment, duration: Duration) -> Moment {
        Moment(elapsed: moment.elapsed + duration)
    }

    static func - (left: Moment, right: Moment) -> Duration { left.elapsed - right.elapsed }

    static func < (left: Moment, right: Moment) -> Bool { left.elapsed < right.elapsed }
}
