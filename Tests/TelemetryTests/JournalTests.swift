import NearbyCore
import Testing

@testable import Telemetry

@Suite struct JournalTests {
    /// Against a plain array with a cursor.
    @Test func itBehavesAsAListWithACursor() {
        var generator = SeededGenerator(seed: 6)
        var journal = Journal(limit: 10)
        var list: [UInt64] = []
        var cursor = 0
        var sequence: UInt64 = 0
        for _ in 0..<20_000 {
            switch Int.random(in: 0..<10, using: &generator) {
            case 0...4:
                sequence += 1
                let isFull = list.count == 10
                if isFull {
                    list.removeFirst()
                    cursor = max(cursor - 1, 0)
                }
                list.append(sequence)
                #expect(journal.append(entry(sequence)) == isFull)
            case 5...7:
                #expect(journal.next()?.sequence == (cursor < list.count ? list[cursor] : nil))
                cursor = min(cursor + 1, list.count)
            case 8:
                let limit = sequence - min(sequence, UInt64.random(in: 0..<12, using: &generator))
                let settled = list.prefix { $0 <= limit }.count
                list.removeFirst(settled)
                cursor = max(cursor - settled, 0)
                journal.settle(through: limit)
            default:
                cursor = 0
                journal.rewind()
            }
            #expect(journal.count == list.count)
            #expect(journal.lowestHeld == list.first)
        }
    }

    private func entry(_ sequence: UInt64) -> Report.Entry {
        Report.Entry(sequence: sequence, channel: 1, milliseconds: 0, cell: .scaled(0))
    }
}
