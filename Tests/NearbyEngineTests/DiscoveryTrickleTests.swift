import NearbyCore
import Testing

@testable import NearbyEngine

@Suite struct DiscoveryTrickleTests {
    private func gaps(content: Bool, heard: Int = 0, count: Int) -> [(gap: Duration, sent: Bool)] {
        var generator = SeededGenerator(seed: 1)
        var trickle = Trickle(now: .zero)
        return (0..<count).map { _ in
            for _ in 0..<heard { trickle.heardConsistent() }
            let now = trickle.due
            let sent = trickle.fire(content: content, now: now, using: &generator)
            return (trickle.due - now, sent)
        }
    }

    @Test func intervalsGrowFromATenthOfASecondToThirtySeconds() {
        let expected = [100, 300, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]
        for (interval, (gap, sent)) in zip(expected, gaps(content: false, heard: 50, count: 9)) {
            let middle = Duration.milliseconds(interval)
            #expect(gap >= middle * 3 / 4 && gap < middle * 5 / 4)
            #expect(sent)
        }
    }

    @Test func contentNodeGoesToTheLongestIntervalAfterItsOpening() {
        let all = gaps(content: true, count: 5)
        #expect(all[2].gap < .seconds(2))
        #expect(all[3].gap >= .milliseconds(22_500))
        #expect(all.allSatisfy { $0.sent })
    }

    @Test func contentNodeAmongManyLeavesOutEverySecondBeaconAtMost() {
        let sent = gaps(content: true, heard: Trickle.redundancy, count: 10).map(\.sent)
        #expect(sent == [true, true, true, true, false, true, false, true, false, true])
    }

    @Test func resetBeginsAnewButNotMoreOftenThanEveryFiveSeconds() {
        var generator = SeededGenerator(seed: 1)
        var trickle = Trickle(now: .zero)
        while trickle.due < .zero + .seconds(100) {
            _ = trickle.fire(content: false, now: trickle.due, using: &generator)
        }
        let now = Instant.zero + .seconds(100)
        trickle.reset(now: now)
        #expect(trickle.due == now)
        for _ in 0..<6 { _ = trickle.fire(content: false, now: trickle.due, using: &generator) }
        let again = now + .seconds(4)
        trickle.reset(now: again)
        #expect(trickle.due <= again + .seconds(1))
        #expect(trickle.due > now)
    }
}
