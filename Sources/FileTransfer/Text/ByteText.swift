/// Numbers of bytes and times for people.
public enum ByteText {
    /// `999 B`, `1.2 MB`: decimal units.
    public static func text(_ count: Int64) -> String {
        guard count >= 1_000 else { return "\(max(count, 0)) B" }
        var (tenths, unit) = (count / 100, 0)
        while tenths >= 10_000, unit < units.count - 1 {
            (tenths, unit) = (tenths / 1_000, unit + 1)
        }
        return "\(tenths / 10).\(tenths % 10) \(units[unit])"
    }

    /// `0:07`, `12:30`, `1:02:03`.
    public static func clock(seconds: Int64) -> String {
        let seconds = max(seconds, 0)
        let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60)
        let rest = twoDigits(seconds % 60)
        return hours > 0 ? "\(hours):\(twoDigits(minutes)):\(rest)" : "\(minutes):\(rest)"
    }

    private static func twoDigits(_ number: Int64) -> String {
        (number < 10 ? "0" : "") + "\(number)"
    }

    private static let units = ["kB", "MB", "GB", "TB", "PB"]
}
