import NearbyCore
import Testing

@testable import Collector

@Suite struct SequenceWindowTests {
    /// Against a set of all that came.
    @Test func eachNumberIsAcceptedOnce() {
        var generator = SeededGenerator(seed: 1)
        var window = SequenceWindow()
        var seen: Set<UInt64> = []
        var top: UInt64 = 20_000
        for _ in 0..<60_000 {
            let jump = UInt64.random(in: 0..<1_000, using: &generator) == 0
            top += jump ? UInt64.random(in: 0...20_000, using: &generator) : 1
            let sequence = top - min(top, UInt64.random(in: 0...9_000, using: &generator))
            let verdict = window.accept(sequence)
            switch verdict {
            case .fresh: #expect(!seen.contains(sequence))
            case .duplicate: #expect(seen.contains(sequence))
            case .tooOld:
                #expect((window.highest ?? 0) - sequence >= UInt64(Limits.sequenceWindowSize))
            }
            if verdict == .fresh { seen.insert(sequence) }
        }
        #expect(window.received == UInt64(seen.count))
        #expect(window.highest == seen.max())
    }

    @Test func whatIsMissingIsCountedAndForgottenWhenItComes() {
        var window = SequenceWindow()
        for sequence: UInt64 in [10, 11, 15] { _ = window.accept(sequence) }
        #expect(window.expected == 6)
        #expect(window.missing == 3)
        _ = window.accept(13)
        #expect(window.missing == 2)
        _ = window.accept(9)
        #expect(window.expected == 7)
        #expect(window.missing == 2)
    }

    @Test func theEndsOfTheNumbersDoNotTrap() {
        var window = SequenceWindow()
        #expect(window.accept(0) == .fresh)
        #expect(window.accept(.max) == .fresh)
        #expect(window.accept(.max) == .duplicate)
        #expect(window.accept(0) == .tooOld)
        #expect(window.accept(.max - 1) == .fresh)
        _ = window.missing
    }
}
