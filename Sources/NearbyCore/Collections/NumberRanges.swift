/// A set of numbers kept as ranges in rising order that neither overlap nor touch.
public struct NumberRanges: Hashable, Sendable {
    public private(set) var ranges: [Range<UInt64>] = []

    public init() {}

    /// How many numbers are in the set.
    public var count: UInt64 { ranges.reduce(0) { $0 &+ ($1.upperBound - $1.lowerBound) } }

    public var isEmpty: Bool { ranges.isEmpty }

    public func contains(_ number: UInt64) -> Bool {
        // Nearly always asked of the number that comes next.
        guard let last = ranges.last, number < last.upperBound else { return false }
        return ranges[firstIndex { $0.upperBound > number }].lowerBound <= number
    }

    /// Adds the numbers; false, and nothing added, if that takes more than `limit` ranges.
    @discardableResult
    public mutating func insert(_ added: Range<UInt64>, limit: Int = .max) -> Bool {
        if added.isEmpty { return true }
        if let last = ranges.last, last.upperBound == added.lowerBound {
            ranges[ranges.count - 1] = last.lowerBound..<added.upperBound
            return true
        }
        let low = firstIndex { $0.upperBound >= added.lowerBound }
        let high = firstIndex { $0.lowerBound > added.upperBound }
        if low == high {
            guard ranges.count < limit else { return false }
            ranges.insert(added, at: low)
        } else {
            let merged =
                min(
                    added.lowerBound, ranges[low].lowerBound)..<max(
                    added.upperBound, ranges[high - 1].upperBound)
            ranges.replaceSubrange(low..<high, with: CollectionOfOne(merged))
        }
        return true
    }

    public mutating func formUnion(_ other: NumberRanges) {
        for range in other.ranges { insert(range) }
    }

    public func union(_ other: NumberRanges) -> NumberRanges {
        var result = self
        result.formUnion(other)
        return result
    }

    public mutating func remove(_ removed: Range<UInt64>) {
        if removed.isEmpty { return }
        let low = firstIndex { $0.upperBound > removed.lowerBound }
        let high = firstIndex { $0.lowerBound >= removed.upperBound }
        guard low < high else { return }
        var rest: [Range<UInt64>] = []
        if ranges[low].lowerBound < removed.lowerBound {
            rest.append(ranges[low].lowerBound..<removed.lowerBound)
        }
        if ranges[high - 1].upperBound > removed.upperBound {
            rest.append(removed.upperBound..<ranges[high - 1].upperBound)
        }
        ranges.replaceSubrange(low..<high, with: rest)
    }

    /// Forgets the lowest ranges until `count` are left.
    public mutating func keepHighest(_ count: Int) {
        if ranges.count > count { ranges.removeFirst(ranges.count - count) }
    }

    /// The parts of `range` that are not in the set, in rising order.
    public func missing(in range: Range<UInt64>) -> [Range<UInt64>] {
        var result: [Range<UInt64>] = []
        var position = range.lowerBound
        for present in ranges[firstIndex { $0.upperBound > range.lowerBound }...] {
            if present.lowerBound >= range.upperBound { break }
            if present.lowerBound > position { result.append(position..<present.lowerBound) }
            position = present.upperBound
        }
        if position < range.upperBound { result.append(position..<range.upperBound) }
        return result
    }

    /// Where the numbers that follow `start` without a gap end; `start` itself if it is missing.
    public func end(from start: UInt64) -> UInt64 {
        let index = firstIndex { $0.upperBound > start }
        guard index < ranges.count, ranges[index].lowerBound <= start else { return start }
        return ranges[index].upperBound
    }

    /// The first range that passes a test which all later ones pass too; the count if none does.
    private func firstIndex(where passes: (Range<UInt64>) -> Bool) -> Int {
        var low = 0
        var high = ranges.count
        while low < high {
            let middle = (low + high) / 2
            if passes(ranges[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
