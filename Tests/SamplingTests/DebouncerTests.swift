import NearbyCore
import Testing

@testable import Sampling

/// Times are milliseconds; the period is 20.
struct DebouncerTests {
    private func at(_ milliseconds: Int64) -> Instant {
        Instant(nanoseconds: milliseconds * 1_000_000)
    }

    private func settled(_ level: Bool) -> Debouncer {
        var debouncer = Debouncer(period: .milliseconds(20))
        debouncer.observe(level, at: .zero)
        return debouncer
    }

    @Test func aChangeCountsOnceTheLineHasStayed() {
        var debouncer = settled(false)
        #expect(debouncer.edge(to: true, at: at(100)) == nil)
        #expect(debouncer.nextDeadline == at(120))
        #expect(debouncer.settle(at: at(119)) == nil)
        #expect(debouncer.settled == false)
        let change = debouncer.settle(at: at(120))
        #expect(change == Debouncer.Change(level: true, time: at(100)))
        #expect(debouncer.settled == true)
        #expect(debouncer.nextDeadline == nil)
        #expect(debouncer.settle(at: at(200)) == nil)
    }

    @Test func bouncingIsOneChangeAtItsLastEdge() {
        var debouncer = settled(true)
        for (time, level) in [(0, false), (3, true), (5, false), (9, true), (12, false)] {
            #expect(debouncer.edge(to: level, at: at(100 + Int64(time))) == nil)
        }
        #expect(debouncer.settle(at: at(131)) == nil)
        let change = debouncer.settle(at: at(132))
        #expect(change == Debouncer.Change(level: false, time: at(112)))
    }

    @Test func aSpikeIsNone() {
        var debouncer = settled(false)
        _ = debouncer.edge(to: true, at: at(100))
        #expect(debouncer.edge(to: false, at: at(110)) == nil)
        #expect(debouncer.nextDeadline == nil)
        #expect(debouncer.settle(at: at(500)) == nil)
    }

    @Test func edgesThatAreReadLateCountAllTheSame() {
        var debouncer = settled(false)
        // Two pulses of 50 ms, handed over at once, long after.
        #expect(debouncer.edge(to: true, at: at(100)) == nil)
        #expect(
            debouncer.edge(to: false, at: at(150))
                == Debouncer.Change(level: true, time: at(100)))
        #expect(
            debouncer.edge(to: true, at: at(200))
                == Debouncer.Change(level: false, time: at(150)))
        #expect(
            debouncer.edge(to: false, at: at(250))
                == Debouncer.Change(level: true, time: at(200)))
        #expect(
            debouncer.settle(at: at(9_000)) == Debouncer.Change(level: false, time: at(250)))
    }

    @Test func whatIsSeenBeginsAChangeWhoseEdgeWasLost() {
        var debouncer = settled(false)
        debouncer.observe(true, at: at(100))
        debouncer.observe(true, at: at(110))
        #expect(debouncer.nextDeadline == at(120))
        let change = debouncer.settle(at: at(120))
        #expect(change == Debouncer.Change(level: true, time: at(100)))
    }

    @Test func anEdgeBeforeAnyLevelIsSeenIsAChange() {
        var debouncer = Debouncer(period: .milliseconds(20))
        #expect(debouncer.edge(to: true, at: at(5)) == nil)
        let change = debouncer.settle(at: at(25))
        #expect(change == Debouncer.Change(level: true, time: at(5)))
    }
}
