import NearbyCore
import Testing

@testable import Store

/// What a sweep decides, without a database.
@Suite struct RetentionPlanTests {
    private typealias Run = RetentionPlan.Run

    /// Nanoseconds.
    private static let day: Int64 = 86_400_000_000_000
    private static let keep: Duration = .seconds(10 * 86_400)
    /// 2023.
    private static let offset: Int64 = 1_700_000_000_000_000_000
    /// 30 days after the boards started.
    private static let utc = offset + 30 * day

    /// Days of the board's clock, in its milliseconds.
    private func days(_ count: Int64) -> Int64 { count * 86_400_000 }

    private func run(
        _ id: Int64, peer: Int64 = 1, days: ClosedRange<Int64>, offset: Int64? = Self.offset
    ) -> Run {
        Run(
            id: id, peerID: peer, knownSince: 0, latestOffset: nil,
            oldest: self.days(days.lowerBound), newest: self.days(days.upperBound),
            dating: offset.flatMap { Stretches([(0, $0)]) }, windows: nil)
    }

    private func plan(_ runs: [Run], utc: Int64 = Self.utc) -> RetentionPlan {
        RetentionPlan(runs, keep: Self.keep, utc: utc, width: .seconds(10))
    }

    @Test func whatIsOlderThanItIsKeptGoes() {
        // The limit is at day 20 of the board's clock.
        #expect(plan([run(1, days: 20...30)]).cuts.map(\.end) == [days(20)])
        #expect(plan([run(1, days: 25...30)]).cuts.map(\.end) == [days(20)])
    }

    @Test func atMostADayOfAPeerGoesAndOthersAreNoHindrance() {
        let plan = plan([
            run(1, peer: 1, days: 3...9), run(2, peer: 1, days: 12...30),
            run(3, peer: 2, days: 19...30),
        ])
        #expect(plan.cuts.map(\.run) == [3, 2, 1])
        #expect(plan.cuts.map(\.end) == [days(20), days(4), days(4)])
    }

    @Test func whatGoesIsDatedByItsStretch() {
        var run = run(1, days: 0...29)
        // Three days on board were four.
        let second = Int64(3) * Self.day
        run.dating = Stretches([(0, Self.offset), (second, Self.offset + Self.day)])
        run.oldest = days(19)
        #expect(plan([run]).cuts.map(\.end) == [days(19)])
    }

    @Test func whatNothingDatesIsBoundedByItsNewestReading() {
        var run = run(1, days: 0...30, offset: nil)
        run.knownSince = Self.utc
        // Its newest reading is here now.
        let bound = RetentionPlan.Bound(run: 1, latestOffset: Self.offset)
        #expect(plan([run]).bounds == [bound])
        #expect(plan([run]).cuts.isEmpty)
        run.latestOffset = bound.latestOffset
        let waited = Self.utc + Self.keep.nanoseconds
        #expect(plan([run], utc: waited - 1).cuts.isEmpty)
        #expect(plan([run], utc: waited).cuts.map(\.end) == [days(1)])
        #expect(plan([run], utc: waited).bounds.isEmpty)
    }

    @Test func aBoundOnlyFallsAndByADayAtMost() {
        var run = run(1, days: 0...30, offset: nil)
        run.latestOffset = Self.offset - 1
        #expect(plan([run]).bounds.isEmpty)
        run.latestOffset = Self.offset + 3 * Self.day
        #expect(plan([run]).bounds.map(\.latestOffset) == [Self.offset + 2 * Self.day])
        run.latestOffset = Self.offset + Self.day / 2
        #expect(plan([run]).bounds.map(\.latestOffset) == [Self.offset])
    }

    @Test func windowsGoByWhatTheyLieBy() {
        var run = run(1, days: 19...30)
        #expect(plan([run]).cuts.map(\.endWindow) == [.min])
        run.windows = Stretches([(0, 0)])
        let ends = plan([run]).cuts.map(\.endWindow)
        #expect(ends == [Int64(20 * 8_640)])
    }

    @Test func theNextSweepIsAnHourAfterTheLastOverARestart() {
        let hour = RetentionPlan.interval
        let now = Instant(nanoseconds: 5_000_000_000)
        func start(_ since: Duration?) -> Instant? {
            RetentionPlan.start(
                after: since.map { Self.utc - $0.nanoseconds }, now: now, utc: Self.utc)
        }
        #expect(start(nil) == nil)
        #expect(start(hour) == nil)
        #expect(start(hour - .seconds(1)) == now + .seconds(1))
        // Our clock was set back.
        #expect(start(.seconds(-86_400)) == now + hour)
    }

    /// Whatever lies in the file: nothing traps, and nothing goes that is younger than it is kept,
    /// or more than a day younger than its peer's oldest reading.
    @Test(arguments: 1...4 as ClosedRange<UInt64>)
    func noCutGoesTooFar(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        func time() -> Int64 {
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: .random(in: .min ... .max, using: &generator)
            default: .random(in: 0...days(40), using: &generator)
            }
        }
        for _ in 0..<500 {
            let runs = (1...6 as ClosedRange<Int64>).map { id in
                let (one, other) = (time(), time())
                let offset =
                    Bool.random(using: &generator)
                    ? Self.offset + .random(in: -Self.day...Self.day, using: &generator) : time()
                return Run(
                    id: id, peerID: id % 3, knownSince: time(), latestOffset: nil,
                    oldest: min(one, other), newest: max(one, other),
                    dating: Stretches([(0, offset)]), windows: Stretches([(0, time())]))
            }
            let plan = plan(runs)
            #expect(plan.cuts.map(\.run) == [6, 5, 4, 3, 2, 1])
            for cut in plan.cuts {
                guard let run = runs.first(where: { $0.id == cut.run }), let dating = run.dating,
                    cut.end > 0, cut.end < .max
                else { continue }
                let oldest = runs.filter { $0.peerID == run.peerID }.compactMap {
                    $0.dating?.utc($0.oldest)
                }
                let limit = min(
                    Self.utc - Self.keep.nanoseconds,
                    (oldest.min() ?? 0).addingSaturating(Self.day))
                #expect(dating.utc(cut.end - 1) < limit)
            }
        }
    }
}
