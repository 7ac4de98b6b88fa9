import Collector
import NearbyCore

/// How the board's time in one boot leads to UTC: one offset for each stretch of it, because a
/// clock drifts. The first offset also serves for all that was before its stretch.
struct Stretches: Hashable {
    struct Stretch: Hashable {
        /// Nanoseconds of the board's clock.
        var since: Int64
        /// Add this to the board's nanoseconds to have UTC; at most 146 years either way.
        var offset: Int64
    }

    /// Ascending, at least one.
    let all: [Stretch]
    /// The first whole millisecond of each; the first stretch has all that a board can show.
    private let begins: [Int64]

    /// Offsets beyond the range are cut off, so that sums stay in 64 bits. Neighbours with equal
    /// offsets become one. Nil without a stretch.
    ///
    /// - Parameter stretches: ascending.
    init?(_ stretches: [(since: Int64, offset: Int64)]) {
        var all: [Stretch] = []
        for (since, offset) in stretches {
            let stretch = Stretch(since: since, offset: Self.offsets.clamp(offset))
            if all.last?.offset != stretch.offset { all.append(stretch) }
        }
        if all.isEmpty { return nil }
        self.all = all
        begins = all.enumerated().map { $0 == 0 ? 0 : max(0, Self.milliseconds($1.since)) }
    }

    private static let offsets: ClosedRange<Int64> = -(1 << 62)...(1 << 62)

    // MARK: A time

    /// Which stretch this time lies in, milliseconds of the board's clock.
    func index(at milliseconds: Int64) -> Int {
        if begins.count == 1 { return 0 }
        var (low, high) = (0, begins.count)
        while high - low > 1 {
            let middle = (low + high) / 2
            if begins[middle] <= milliseconds { low = middle } else { high = middle }
        }
        return low
    }

    /// As `index(at:)`, of nanoseconds.
    func offset(at nanoseconds: Int64) -> Int64 {
        (all.last { $0.since <= nanoseconds } ?? all[0]).offset
    }

    /// UTC nanoseconds, saturating.
    func utc(_ milliseconds: Int64) -> Int64 {
        let (nanoseconds, overflow) = milliseconds.multipliedReportingOverflow(by: 1_000_000)
        let saturated: Int64 = overflow ? (milliseconds < 0 ? .min : .max) : nanoseconds
        return saturated.addingSaturating(all[index(at: milliseconds)].offset)
    }

    // MARK: Spans

    /// Milliseconds of the board's clock that a stretch lasts; empty if another begins in the same.
    func milliseconds(of index: Int) -> Range<Int64> {
        begins[index]..<(index + 1 < begins.count ? begins[index + 1] : .max)
    }

    /// The board's milliseconds between two UTC times: ascending and apart. Several, where a clock
    /// that was set back went through the same UTC twice.
    func milliseconds(from: Int64?, to: Int64?) -> [Range<Int64>] {
        var ranges: [Range<Int64>] = []
        for span in spans(from: from, to: to) {
            if let last = ranges.last, last.upperBound == span.lowerBound {
                ranges[ranges.count - 1] = last.lowerBound..<span.upperBound
            } else {
                ranges.append(span)
            }
        }
        return ranges
    }

    /// The same, one for each stretch that has a part in it.
    func spans(from: Int64?, to: Int64?) -> [Range<Int64>] {
        all.enumerated().compactMap { index, stretch in
            let own = milliseconds(of: index)
            let bound = { (utc: Int64) in
                Self.milliseconds(utc.subtractingSaturating(stretch.offset))
            }
            let first = max(own.lowerBound, from.map(bound) ?? .min)
            let end = min(own.upperBound, to.map(bound) ?? .max)
            return first < end ? first..<end : nil
        }
    }

    /// The board's first millisecond whose UTC is not before this.
    func firstMillisecond(notBefore utc: Int64) -> Int64 {
        milliseconds(from: utc, to: nil).first?.lowerBound ?? .max
    }

    /// The first whole millisecond that is not before this.
    static func milliseconds(_ nanoseconds: Int64) -> Int64 {
        let (quotient, remainder) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000)
        return remainder > 0 ? quotient + 1 : quotient
    }
}
