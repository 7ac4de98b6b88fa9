import Collector
import NearbyCore
import Testing

@testable import Store

@Suite struct StretchesTests {
    private static let width: Duration = .seconds(10)

    /// A random clock of a few stretches within ten minutes.
    private func random(_ generator: inout SeededGenerator) throws -> Stretches {
        let count = Int.random(in: 1...6, using: &generator)
        let since = (0..<count).map { _ in
            Int64.random(in: -5...600_000_000_000, using: &generator)
        }
        let rows = Set(since).sorted().map {
            (since: $0, offset: Int64.random(in: 0...40_000_000_000, using: &generator))
        }
        return try #require(Stretches(rows))
    }

    /// Milliseconds of the board's clock: some in the middle, some at the borders.
    private func times(_ stretches: Stretches, _ generator: inout SeededGenerator) -> [Int64] {
        let near = stretches.all.flatMap { stretch in
            (-1...1).map { max(0, stretch.since / 1_000_000 + $0) }
        }
        return near
            + (0..<200).map { _ in Int64.random(in: 0...700_000, using: &generator) } + [0]
    }

    @Test func aTimeGoesByTheLastStretchThatBeganBeforeIt() throws {
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<50 {
            let stretches = try random(&generator)
            for time in times(stretches, &generator) {
                let nanoseconds = time * 1_000_000
                let slow = stretches.all.last { $0.since <= nanoseconds } ?? stretches.all[0]
                #expect(stretches.utc(time) == nanoseconds + slow.offset)
                #expect(stretches.offset(at: nanoseconds) == slow.offset)
            }
        }
    }

    @Test func boundsHoldTheTimesBetweenThemAndNoOthers() throws {
        var generator = SeededGenerator(seed: 2)
        for _ in 0..<50 {
            let stretches = try random(&generator)
            let from = Int64.random(in: 0...600_000_000_000, using: &generator)
            let to = from + Int64.random(in: -5...90_000_000_000, using: &generator)
            let ranges = stretches.milliseconds(from: from, to: to)
            #expect(zip(ranges, ranges.dropFirst()).allSatisfy { $0.upperBound < $1.lowerBound })
            let first = stretches.firstMillisecond(notBefore: from)
            for time in times(stretches, &generator) {
                let isInside = (from..<max(from, to)).contains(stretches.utc(time))
                #expect(ranges.contains { $0.contains(time) } == isInside)
                if time < first { #expect(stretches.utc(time) < from) }
            }
            #expect(first == .max || stretches.utc(first) >= from)
        }
    }

    @Test func numbersOfWindowsAgreeWithTheirTimes() throws {
        var generator = SeededGenerator(seed: 3)
        for _ in 0..<50 {
            let grid = WindowGrid(width: Self.width, stretches: try random(&generator))
            let times = times(grid.stretches, &generator)
            for time in times {
                let number = try #require(grid.number(at: time))
                #expect(grid.milliseconds(of: number...number).contains { $0.contains(time) })
                let next = grid.nextBorder(after: time, in: number)
                #expect(next > time)
                #expect(grid.number(at: next - 1) == number)
                let lowest = grid.lowestNumber(from: time)
                #expect(lowest <= number)
                let later = times.filter { $0 >= time }.compactMap { grid.number(at: $0) }
                #expect(later.allSatisfy { $0 >= lowest })
            }
        }
    }

    /// Only what lies too far off is laid anew, and all windows are named that this changes.
    @Test func aLayoutFollowsOnlyLargeMovesAndNamesWhatMoved() throws {
        var generator = SeededGenerator(seed: 4)
        let shift: Int64 = 5_000_000_000
        for round in 0..<200 {
            let old = round % 5 == 0 ? nil : try random(&generator)
            let dating = try random(&generator)
            let layout = WindowLayout(old, dating: dating, shift: shift, width: Self.width)
            let grid = WindowGrid(width: Self.width, stretches: layout.stretches)
            let oldGrid = old.map { WindowGrid(width: Self.width, stretches: $0) }
            for time in times(dating, &generator) {
                let laid = layout.stretches.utc(time)
                let wanted = dating.utc(time)
                #expect(abs(laid - wanted) <= shift)
                if let before = old?.utc(time), abs(before - wanted) <= shift {
                    #expect(laid == before)
                } else {
                    #expect(laid == wanted)
                    for number in [grid.number(at: time), oldGrid?.number(at: time)] {
                        guard let number else { continue }
                        #expect(layout.moved.contains { $0.contains(number) })
                    }
                }
            }
            let again = WindowLayout(
                layout.stretches, dating: dating, shift: shift, width: Self.width)
            #expect(again.stretches == layout.stretches)
            #expect(again.moved.isEmpty)
        }
    }

    @Test func aLayoutOfTooManyStretchesLiesByTheDating() throws {
        let rows = (0...Int64(WindowLayout.stretchesMax)).map {
            (since: $0 * 1_000_000_000, offset: $0 % 2 * 1_000)
        }
        let old = try #require(Stretches(rows))
        let dating = try #require(Stretches([(0, 0)]))
        let layout = WindowLayout(old, dating: dating, shift: 2_000, width: Self.width)
        #expect(layout.stretches == dating)
        #expect(!layout.moved.isEmpty)
    }
}
