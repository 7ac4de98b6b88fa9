import NearbyCore

/// How the readings of one boot fall into windows: number n holds the UTC nanoseconds from
/// n · width up to the next window's.
struct WindowGrid: Hashable {
    /// 1 ms to 1 day.
    let width: Int64
    /// Add this to the board's nanoseconds to have UTC.
    let offset: Int64

    /// Nil for an offset of over 146 years.
    init?(width: Duration, offset: Int64) {
        guard Self.offsets.contains(offset) else { return nil }
        self.width = Self.widths.clamp(width.nanoseconds)
        self.offset = offset
    }

    static let widths: ClosedRange<Int64> = 1_000_000...86_400_000_000_000
    private static let offsets: ClosedRange<Int64> = -(1 << 62)...(1 << 62)
    /// 73 years of uptime. With the offset it leaves room for a width.
    static let millisecondsMax: Int64 = (1 << 61) / 1_000_000

    /// Nil for a time that no board has been up for.
    func number(at milliseconds: Int64) -> Int64? {
        guard (0...Self.millisecondsMax).contains(milliseconds) else { return nil }
        return Self.number(at: milliseconds * 1_000_000 + offset, width: width)
    }

    static func number(at utc: Int64, width: Int64) -> Int64 {
        let (quotient, remainder) = utc.quotientAndRemainder(dividingBy: width)
        return remainder < 0 ? quotient - 1 : quotient
    }

    /// The window's times, milliseconds of the board's clock. Numbers from outside saturate.
    func milliseconds(of number: Int64) -> Range<Int64> {
        let first = milliseconds(at: Self.start(of: number, width: width))
        let end = milliseconds(at: Self.start(of: number.addingSaturating(1), width: width))
        return first..<max(first, end)
    }

    /// The first whole millisecond of the board's clock that is not before this UTC.
    func milliseconds(at utc: Int64) -> Int64 {
        let nanoseconds = utc.subtractingSaturating(offset)
        let (quotient, remainder) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000)
        return remainder > 0 ? quotient + 1 : quotient
    }

    /// UTC nanoseconds, saturating.
    static func start(of number: Int64, width: Int64) -> Int64 {
        let (start, overflow) = number.multipliedReportingOverflow(by: width)
        return overflow ? (number < 0 ? .min : .max) : start
    }
}

extension ClosedRange {
    func clamp(_ value: Bound) -> Bound { Swift.min(Swift.max(value, lowerBound), upperBound) }
}
