import Collector
import NearbyCore
import Telemetry
import Testing

@testable import Store

@Suite struct BootMappingsTests {
    private func mapping(
        _ since: Int64, _ offset: Int64, _ rank: ClockRank = .network, uncertainty: Int64 = 3
    ) -> ClockMapping {
        Fixture.mapping(
            rank: rank, offset: .milliseconds(offset), uncertainty: .milliseconds(uncertainty),
            since: Fixture.at(since))
    }

    private func taken(_ mappings: [ClockMapping]) -> [ClockMapping] {
        var boot = BootMappings(all: [])
        for mapping in mappings { boot.take(mapping) }
        return boot.all
    }

    @Test func aMappingReplacesWhatWasSaidOfItsTimeAndLater() {
        let (first, second, third) = (mapping(0, 1), mapping(10, 2), mapping(20, 3))
        #expect(taken([first, second, third]) == [first, second, third])
        #expect(taken([first, third, second]) == [first, second])
        #expect(taken([first, second, mapping(10, 5)]) == [first, mapping(10, 5)])
        #expect(taken([first, second, third, mapping(0, 9)]) == [mapping(0, 9)])
        #expect(taken([third, second]) == [second])
    }

    @Test func aLowerRankIsPassedOverAndAHigherOneIsNot() {
        let good = mapping(0, 1)
        #expect(taken([good, mapping(0, 2, .hardware), mapping(5, 3, .none)]) == [good])
        let better = mapping(5, 2, .satellite)
        #expect(taken([good, better]) == [good, better])
        #expect(taken([good, better, mapping(9, 3)]) == [good, better])
        #expect(BootMappings(all: [good, better]).rank == .network)
        #expect(BootMappings(all: []).rank == nil)
    }

    @Test func whatRestsOnAnAgentsWordGivesWayToOurClockAndCanFall() {
        let liar = Fixture.mapping(rank: .satellite, offset: .milliseconds(1), isForeign: true)
        let other = Fixture.mapping(rank: .network, offset: .milliseconds(2), isForeign: true)
        let guess = Fixture.mapping(rank: .none, offset: .milliseconds(3))
        let own = mapping(0, 4)
        #expect(taken([liar, other]) == [other])
        #expect(taken([liar, guess]) == [liar])
        #expect(taken([liar, own]) == [own])
        #expect(taken([own, liar]) == [own])
        #expect(taken([own, other, guess]) == [own])
        #expect(BootMappings(all: [own]).isFounded)
        #expect(!BootMappings(all: [liar]).isFounded)
        #expect(!BootMappings(all: [own, guess]).isFounded)
        #expect(!BootMappings(all: []).isFounded)
    }

    /// Whatever is dropped, what is left says of each time no more than what was said first.
    @Test func beyondTheLimitUncertaintiesCoverWhatWasSaid() {
        for seed in 0..<20 as Range<UInt64> {
            var generator = SeededGenerator(seed: seed)
            var boot = BootMappings(all: [])
            var said: [ClockMapping] = []
            for number in 0..<300 as Range<Int64> {
                let new = mapping(
                    number * 1_000, number + Int64.random(in: -20...20, using: &generator),
                    uncertainty: Int64.random(in: 1...30, using: &generator))
                boot.take(new)
                said.append(new)
                #expect(boot.all.count == min(said.count, Limits.storedStretchesMax))
                #expect(boot.all.last == new)
                #expect(boot.all.first?.since == .zero)
            }
            #expect(zip(boot.all, boot.all.dropFirst()).allSatisfy { $0.since < $1.since })
            for old in said {
                let now = boot.all.last { $0.since <= old.since }
                guard let now else {
                    Issue.record("nothing is said of \(old.since)")
                    continue
                }
                let moved = now.clock.unixOffset - old.clock.unixOffset
                let distance = moved < .zero ? .zero - moved : moved
                #expect(distance + old.uncertainty <= now.uncertainty)
            }
        }
    }

    @Test func theStretchWhoseLossHurtsLeastGoes() {
        var steps = (0..<Int64(Limits.storedStretchesMax)).map { mapping($0, $0 * 100) }
        steps[20].clock.unixOffset = .milliseconds(19 * 100 + 1)
        let end = Int64(Limits.storedStretchesMax)
        let left = taken(steps + [mapping(end, end * 100)])
        #expect(left.count == Limits.storedStretchesMax)
        #expect(!left.contains { $0.since == steps[20].since })
        #expect(left[19].uncertainty == .milliseconds(4))
        #expect(left[18].uncertainty == .milliseconds(3))
    }

    @Test func absurdMappingsDoNotTrap() {
        var boot = BootMappings(all: [])
        for number in 0..<200 as Range<Int64> {
            let offset = number % 2 == 0 ? Int64.min : Int64.max
            let since = number < 100 ? Int64.min + number : Int64.max - 200 + number
            boot.take(
                ClockMapping(
                    boot: Fixture.boot,
                    clock: ClockReading(rank: .none, unixOffset: .nanoseconds(offset)),
                    uncertainty: .nanoseconds(Int64.max), since: Instant(nanoseconds: since)))
        }
        #expect(boot.all.count == Limits.storedStretchesMax)
        #expect(boot.stretches?.utc(.max) == .max)
        #expect(boot.stretches?.milliseconds(from: .min, to: .max).isEmpty == false)
    }
}
