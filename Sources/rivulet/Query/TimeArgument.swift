import ArgumentParser
import Configuration
import NearbyCore
import Store

/// A time on the command line.
struct TimeArgument {
    let time: WrittenTime

    static func parse(_ text: String) throws -> TimeArgument {
        if text.hasPrefix("-"), let age = Settings.writtenDuration(String(text.dropFirst())) {
            return TimeArgument(time: .ago(age))
        }
        guard let time = WrittenTime(text) else {
            throw ValidationError(
                "write 10:00, today, 'yesterday 10:00', 2026-11-21, '2026-11-21 10:00', "
                    + "2026-11-21T10:00:00Z or -1h; years from 1970 to 2200")
        }
        return TimeArgument(time: time)
    }
}
