import NearbyCore
import Testing

@testable import NearbyEngine

struct ReplayWindowTests {
    /// The obvious window: a set of all that was seen.
    private struct Oracle {
        var seen: Set<UInt64> = []
        var highest: UInt64 = 0

        func isFresh(_ counter: UInt64) -> Bool? {
            if counter > highest { return true }
            return highest - counter < ReplayWindow.width ? !seen.contains(counter) : false
        }
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func agreesWithTheOracle(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var window = ReplayWindow()
        var oracle = Oracle()
        var base: UInt64 = 0
        for step in 0..<20_000 {
            if step % 1_000 == 0 { base += generator.next() % 5_000 }
            base += generator.next() % 3
            let back = generator.next() % 1_500
            let counter = base > back ? base - back : base
            #expect(window.isFresh(counter) == oracle.isFresh(counter), "counter \(counter)")
            if window.isFresh(counter) {
                window.record(counter)
                oracle.seen.insert(counter)
                oracle.highest = max(oracle.highest, counter)
            }
        }
    }

    @Test func theFirstCounterIsFreshOnce() {
        var window = ReplayWindow()
        #expect(window.isFresh(0))
        window.record(0)
        #expect(!window.isFresh(0))
        window.record((1 << 40) - 2)
        #expect(!window.isFresh(1))
    }
}
