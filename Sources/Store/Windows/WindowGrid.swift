import NearbyCore

/// How the readings of one boot fall into windows: number n holds the UTC nanoseconds from
/// n · width up to the next window's.
struct WindowGrid: Hashable {
    /// 1 ms to 1 day.
    let width: Int64
    let stretches: Stretches
    /// The lowest number that a stretch or one after it has; one more, for none.
    private let floors: [Int64]

    /// - Parameter times: so many widths are a window.
    init(width: Duration, times: Int64 = 1, stretches: Stretches) {
        let width = Self.widths.clamp(width.nanoseconds) * times
        self.width = width
        self.stretches = stretches
        var floors = [Int64.max]
        for index in stretches.all.indices.reversed() {
            let begin = stretches.milliseconds(of: index).lowerBound
            let utc = Self.sum(begin, stretches.all[index].offset)
            floors.append(min(floors.last ?? .max, Self.number(at: utc, width: width)))
        }
        self.floors = floors.reversed()
    }

    static let widths: ClosedRange<Int64> = 1_000_000...86_400_000_000_000
    /// 73 years of uptime. With the offset it leaves room for a width.
    static let millisecondsMax: Int64 = (1 << 61) / 1_000_000

    // MARK: Numbers

    /// Nil for a time that no board has been up for.
    func number(at milliseconds: Int64) -> Int64? {
        guard (0...Self.millisecondsMax).contains(milliseconds) else { return nil }
        let offset = stretches.all[stretches.index(at: milliseconds)].offset
        return Self.number(at: Self.sum(milliseconds, offset), width: width)
    }

    /// The lowest number of this time and all after it.
    func lowestNumber(from milliseconds: Int64) -> Int64 {
        let milliseconds = max(0, min(milliseconds, Self.millisecondsMax))
        let index = stretches.index(at: milliseconds)
        return min(number(at: milliseconds) ?? .max, floors[index + 1])
    }

    static func number(at utc: Int64, width: Int64) -> Int64 {
        let (quotient, remainder) = utc.quotientAndRemainder(dividingBy: width)
        return remainder < 0 ? quotient - 1 : quotient
    }

    private static func sum(_ milliseconds: Int64, _ offset: Int64) -> Int64 {
        min(milliseconds, millisecondsMax) * 1_000_000 + offset
    }

    // MARK: Times

    /// The windows' times, milliseconds of the board's clock: ascending and apart. Numbers from
    /// outside saturate.
    func milliseconds(of numbers: ClosedRange<Int64>) -> [Range<Int64>] {
        stretches.milliseconds(
            from: Self.start(of: numbers.lowerBound, width: width),
            to: Self.start(of: numbers.upperBound.addingSaturating(1), width: width))
    }

    /// The first millisecond after this one that begins another window or stretch.
    func nextBorder(after milliseconds: Int64, in number: Int64) -> Int64 {
        let index = stretches.index(at: milliseconds)
        let end = Self.start(of: number.addingSaturating(1), width: width)
        let border = Stretches.milliseconds(
            end.subtractingSaturating(stretches.all[index].offset))
        return min(border, stretches.milliseconds(of: index).upperBound)
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
