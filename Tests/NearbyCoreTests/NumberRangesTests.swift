import NearbyCore
import Testing

/// Ranges beside a set of numbers that is told the same.
@Suite struct NumberRangesTests {
    @Test(arguments: 0..<40 as Range<UInt64>)
    func theyHoldWhatASetHolds(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var ranges = NumberRanges()
        var numbers: Set<UInt64> = []
        for step in 0..<300 as Range<UInt64> {
            let random = UInt64.random(in: 0..<200, using: &generator)
            let start = Bool.random(using: &generator) ? step : random
            let part = start..<start + UInt64.random(in: 0..<4, using: &generator)
            if Int.random(in: 0..<5, using: &generator) == 0 {
                ranges.remove(part)
                numbers.subtract(part)
            } else {
                ranges.insert(part)
                numbers.formUnion(part)
            }
            #expect(ranges.count == UInt64(numbers.count))
            let isSame = (0..<310 as Range<UInt64>).allSatisfy {
                ranges.contains($0) == numbers.contains($0)
            }
            #expect(isSame)
            let gaps = zip(ranges.ranges, ranges.ranges.dropFirst())
            #expect(gaps.allSatisfy { $0.upperBound < $1.lowerBound })
        }
    }

    @Test func beyondTheLimitNothingBegins() {
        var ranges = NumberRanges()
        let taken = [1..<3, 5..<6, 3..<4].map { ranges.insert($0, limit: 1) }
        #expect(taken == [true, false, true])
        #expect(ranges.ranges == [1..<4])
    }
}
