import NearbyCore
import NearbyWire
import Testing

@testable import NearbyEngine

/// What breaks the measure of a link over Wi-Fi.
struct LinkLossAttackTests {
    private static func percents(
        _ loss: Double, every: Int64, latency: Int64 = 2
    ) -> [Int] {
        (1...8 as ClosedRange<UInt64>).map { seed in
            var link = LossyLink(.wifi, loss: 0, seed: seed)
            link.latency = .milliseconds(latency)
            link.run(for: .seconds(30), every: .seconds(1))
            link.loss = loss
            link.run(for: .seconds(60), every: .milliseconds(every))
            return link.sides[0].lossPercent
        }
    }

    /// A good link became a bad one while much is sent: three of four questions find no answer. Who
    /// does not answer data is probed, and that must not put off the next question for ever.
    @Test(arguments: [20, 100] as [Int64])
    func aBusyLinkThatBecameBadIsFoundOut(_ every: Int64) {
        let found = Self.percents(0.5, every: every)
        #expect(found.reduce(0, +) / found.count >= 50, "\(found)")
    }

    /// Nothing is lost; each frame takes its time, as where a radio saves power.
    @Test(arguments: [100, 300, 1_000] as [Int64], [40, 60, 80] as [Int64])
    func aSlowLinkIsNoLossyOne(_ every: Int64, _ latency: Int64) {
        let found = Self.percents(0, every: every, latency: latency)
        // One of eight may begin with an answer that belongs to another question.
        #expect(found.reduce(0, +) / found.count <= 5, "\(found)")
        #expect(found.count { $0 > 5 } <= 1, "\(found)")
    }

    /// Whatever comes, and whenever: deadlines lie ahead after a few turns, and nothing traps.
    @Test func fuzz() {
        for linkClass in [LinkClass.wifi, .ethernet, .bluetooth] {
            for seed in 1...300 as ClosedRange<UInt64> {
                var random = SeededGenerator(seed: seed)
                var machine = LivenessMachine(linkClass: linkClass, seed: seed, now: .zero)
                var now = Instant.zero
                let bias = Int.random(in: 0..<10, using: &random)
                for _ in 0..<3_000 {
                    let step = Int64(
                        [0, 1, 14, 15, 50, 100, 101, 150, 1_000][
                            Int.random(in: 0..<9, using: &random)])
                    let to = now + .milliseconds(step)
                    // Late or in time.
                    if Bool.random(using: &random) {
                        var turns = 0
                        while let due = machine.nextDeadline, due <= to {
                            now = max(now, due)
                            var here = 0
                            while let due = machine.nextDeadline, due <= now {
                                let outputs = machine.handle(.deadlineReached, now: now)
                                here += 1
                                if outputs.contains(.lost) {
                                    _ = machine.handle(.received(.answer), now: now)
                                }
                                if here > 4 {
                                    Issue.record("spins \(linkClass) seed \(seed)"); return
                                }
                            }
                            turns += 1
                            if turns > 1_000 {
                                Issue.record("spins far \(linkClass) seed \(seed)"); return
                            }
                        }
                    }
                    now = max(now, to)
                    let kind = Int.random(in: 0..<10, using: &random)
                    switch kind < 6 ? kind : bias {
                    case 0: _ = machine.handle(.frameSent(isData: true), now: now)
                    case 1: _ = machine.handle(.frameSent(isData: false), now: now)
                    case 2: _ = machine.handle(.frameReceived(isData: true), now: now)
                    case 3, 6: _ = machine.handle(.received(.probe), now: now)
                    case 4, 7: _ = machine.handle(.received(.answer), now: now)
                    case 5: _ = machine.handle(.received(.hello), now: now)
                    case 8: _ = machine.handle(.unreachable, now: now)
                    default: _ = machine.handle(.frameReceived(isData: false), now: now)
                    }
                    _ = machine.cost
                    #expect(0...100 ~= machine.lossPercent)
                }
            }
        }
    }
}
