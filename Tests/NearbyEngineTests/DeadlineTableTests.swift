import NearbyCore
import Testing

@testable import NearbyEngine

/// Compared with a dictionary that is searched each time.
struct DeadlineTableTests {
    private func at(_ milliseconds: Int) -> Instant { .zero + .milliseconds(milliseconds) }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func itFindsWhatASearchFinds(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var table = DeadlineTable<Int>()
        var expected: [Int: Instant] = [:]
        var now = 0
        for _ in 0..<2_000 {
            let key = Int.random(in: 0..<60, using: &random)
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<7:
                let deadline = at(now + Int.random(in: 0..<50, using: &random))
                table[key] = deadline
                expected[key] = deadline
            case 7..<9:
                table[key] = nil
                expected[key] = nil
            default:
                now += Int.random(in: 0..<30, using: &random)
                let due = expected.filter { $0.value <= at(now) }.keys.sorted()
                for key in due { expected[key] = nil }
                #expect(table.takeDue(now: at(now)) == due)
            }
            #expect(table.earliest == expected.values.min())
            #expect(table[key] == expected[key])
        }
    }

    /// What is put off again and again, as a neighbour's silence is with each frame.
    @Test func whatIsPutOffTakesNoRoom() {
        var table = DeadlineTable<Int>()
        for millisecond in 0..<100_000 { table[millisecond % 3] = at(millisecond) }
        #expect(table.earliest == at(99_997))
        #expect(table.entryCount < 100)
    }

    @Test func equalContentsAreEqual() {
        var one = DeadlineTable<Int>()
        var other = DeadlineTable<Int>()
        one[1] = at(9)
        one[1] = at(5)
        other[1] = at(5)
        #expect(one == other)
        #expect(one.hashValue == other.hashValue)
    }
}
