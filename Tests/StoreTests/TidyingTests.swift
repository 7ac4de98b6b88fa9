import Collector
import NearbyCore
import Telemetry
import Testing

@testable import Store

/// Commits wait while a store tidies: a call looks through no more than its budget says.
@Suite struct TidyingTests {
    private static let budget = 1_000
    /// A page of readings and the blocks that it lies in may come on top, of narrow windows and of
    /// wide ones.
    private static let most = 3_000
    private static let end = ClockReading(rank: .none, unixOffset: .nanoseconds(Int64.max / 2))

    /// Tidies until nothing is left; after each call `between` is called with how many there were.
    /// Returns how many.
    private func tidy(_ store: Store, _ between: (Int) throws -> Void = { _ in }) throws -> Int {
        for count in 1...10_000 as ClosedRange<Int> {
            let before = store.readings.cost
            let report = try store.tidy(now: .zero, clock: Self.end, budget: Self.budget)
            #expect(store.readings.cost - before < Self.most)
            if report.isDone { return count }
            try between(count)
        }
        Issue.record("tidying does not come to an end")
        return 0
    }

    private func windows(_ path: String) throws -> [StoredWindow] {
        var windows: [StoredWindow] = []
        try StoreReader(path).windows(StoreQuery(), width: .seconds(10)) {
            windows.append($1)
            return true
        }
        return windows
    }

    /// Two channels at 2 kHz for ten seconds, in one window.
    private static let fast = (1...40_000 as ClosedRange<UInt64>).map { number in
        Fixture.reading(
            number, channel: UInt16(number % 2 + 1), at: Int64(number - 1) / 4, Int64(number % 999))
    }

    @Test(arguments: [100, Int.max])
    func theWindowOfAFastChannelIsComputedInPieces(blockedAtOnce: Int) throws {
        try withStorePath { path in
            let store = try Fixture.store(path, from: blockedAtOnce)
            try store.commit(Fixture.batch(Self.fast))
            let wanted = try windows(path)
            #expect(wanted.map(\.statistics.count) == [20_000, 20_000])
            let pieces = try tidy(store) { count in
                // Until it is finished it is what its readings come to.
                guard count < 3 else { return }
                let found = try windows(path)
                #expect(found == wanted)
            }
            #expect(pieces > 3)
            #expect(try store.database.integer("SELECT count(*) FROM due_windows") == 0)
            let stored = try windows(path)
            #expect(stored.map(\.statistics) == wanted.map(\.statistics))
            #expect(stored.map(\.received) == [40_000, 40_000])
        }
    }

    @Test func aWindowThatIsBegunIsBegunAnewWhenItsReadingsChange() throws {
        try withStorePath { path in
            let store = try Fixture.store(path)
            try store.commit(Fixture.batch(Self.fast))
            _ = try tidy(store) { count in
                guard count == 2 else { return }
                let late = Fixture.reading(50_000, channel: 1, at: 0, 1_000_000)
                try store.commit(Fixture.batch([late]))
            }
            let stored = try windows(path)
            #expect(stored.map(\.statistics.count) == [20_001, 20_000])
            #expect(stored[0].statistics.max?.coefficient == 1_000_000)
            #expect(stored.map(\.received) == [40_001, 40_001])
        }
    }

    @Test func aPieceThatCameToNothingIsDoneAgain() throws {
        try withStorePath { path in
            let store = try Fixture.store(path)
            try store.commit(Fixture.batch(Self.fast))
            func windowCount() throws(StoreError) -> Int64? {
                try store.database.integer("SELECT count(*) FROM windows")
            }
            #expect(throws: StoreError.self) {
                try store.transaction { () throws(StoreError) in
                    while try windowCount() == 0, let due = try store.windows.nextDue(before: .max)
                    {
                        var left = 200
                        let grid = try store.grid(of: Fixture.boot)
                        _ = try store.windows.compute(due, grid, isKept: true, &left)
                    }
                    throw .damaged("for a test")
                }
            }
            #expect(try windowCount() == 0)
            _ = try tidy(store)
            #expect(try windows(path).map(\.statistics.count) == [20_000, 20_000])
        }
    }

    /// What is deleted while it is half computed does not come back.
    @Test func aWindowThatIsBegunAndDeletedIsForgotten() throws {
        try withStorePath { path in
            let store = try Fixture.store(path)
            try store.commit(Fixture.batch(Self.fast))
            _ = try store.tidy(now: .zero, clock: Self.end, budget: Self.budget)
            try store.database.execute("DELETE FROM due_windows; DELETE FROM windows")
            _ = try tidy(store)
            #expect(try store.database.integer("SELECT count(*) FROM windows") == 0)
        }
    }

    @Test func hoursOfAFastChannelAreDatedAnewInPieces() throws {
        try withStorePath { path in
            let store = try Fixture.store(path)
            // Ten a second for two hours.
            let all = (1...72_000 as ClosedRange<UInt64>).map { number in
                Fixture.reading(number, at: Int64(number) * 100, Int64(number % 999))
            }
            try store.commit(Fixture.batch(all))
            _ = try tidy(store)
            var batch = StoreBatch()
            let moved = Fixture.unixOffset + .seconds(86_400)
            batch.clocks = [Fixture.mapping(rank: .satellite, offset: moved)]
            try store.commit(batch)
            let wanted = try windows(path)
            #expect(try tidy(store) > 3)
            #expect(try windows(path).map(\.statistics) == wanted.map(\.statistics))
            #expect(try windows(path).map(\.start) == wanted.map(\.start))
            #expect(try store.database.integer("SELECT count(*) FROM due_wide_windows") == 0)
        }
    }
}
