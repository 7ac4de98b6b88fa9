import NearbyCore
import NearbyWire
import Testing

@testable import NearbyEngine

/// A hall of boards starts at once beside one collector.
@Suite struct DiscoveryCrowdTests {
    typealias Base = DiscoveryMachineTests

    private func machine(_ own: DiscoveryMachine.OwnState, proves: Bool) -> DiscoveryMachine {
        var machine = DiscoveryMachine(
            identity: DiscoveryMachine.Identity(
                peer: Base.own, run: RunID(value: 50), network: Base.network, proves: proves,
                datagramsPerBeacon: 2),
            own: own, seed: 1)
        _ = machine.handle(.linkUp(Base.link, hasBroadcast: true), now: .zero)
        _ = machine.handle(.start, now: .zero)
        while let deadline = machine.nextDeadline, deadline <= Base.late {
            _ = machine.handle(.deadlineReached, now: deadline)
        }
        return machine
    }

    private func call(_ number: UInt32, multicast: Bool) -> DiscoveryMachine.Input {
        var frame = Base.frame(
            .beacon(Base.beacon()), peer: PeerID(high: 100, low: UInt64(number)))
        frame.proof = 1
        return .received(frame, from: Base.at(1_000 + number), multicast: multicast)
    }

    /// Each board calls once; when each was answered, after `Base.late`.
    private func answerTimes(
        _ machine: inout DiscoveryMachine, callers: UInt32, within patience: Duration
    ) -> [Duration] {
        var times: [Duration] = []
        func count(_ outputs: [DiscoveryMachine.Output], _ now: Instant) {
            for case .unicast(let frame, to: _) in outputs {
                if case .answer = frame.body { times.append(now - Base.late) }
            }
        }
        for number in 0..<callers {
            count(machine.handle(call(number, multicast: false), now: Base.late), Base.late)
        }
        while let due = machine.nextDeadline, due <= Base.late + patience {
            count(machine.handle(.deadlineReached, now: due), due)
        }
        return times
    }

    @Test func aCollectorAnswersAHallOfCallersAtOnce() {
        var collector = machine(.collecting(), proves: true)
        let times = answerTimes(&collector, callers: 300, within: .seconds(1))
        #expect(times.count == 300)
        #expect(times.allSatisfy { $0 == .zero })
    }

    @Test func whoDoesNotFitIsAnsweredLaterWithoutCallingAgain() {
        var collector = machine(.collecting(), proves: true)
        let times = answerTimes(&collector, callers: 1_000, within: .seconds(4))
        #expect(times.count == 1_000)
        #expect(times.count { $0 < .seconds(1) } == Limits.callerAnswersPerSecond)
        #expect(times.max() ?? .zero < .seconds(3))
    }

    @Test func withoutASecretAndAtOthersTheLimitIsThatOfDiscovery() {
        for (own, proves) in [
            (DiscoveryMachine.OwnState.collecting(), false), (.wanting(), true),
        ] {
            var node = machine(own, proves: proves)
            let times = answerTimes(&node, callers: 300, within: .milliseconds(999))
            #expect((1...Limits.discoveryFramesPerSecond).contains(times.count))
        }
    }

    @Test func manyThatAllHaveHeardAreServedByOneBeacon() {
        var collector = machine(.collecting(), proves: true)
        var beacons = 0
        var others = 0
        func count(_ outputs: [DiscoveryMachine.Output]) {
            for output in outputs {
                switch output {
                case .multicast: beacons += 1
                case .unicast: others += 1
                default: break
                }
            }
        }
        for number in 0..<200 as Range<UInt32> {
            count(collector.handle(call(number, multicast: true), now: Base.late))
        }
        while let due = collector.nextDeadline, due < Base.late + .milliseconds(500) {
            count(collector.handle(.deadlineReached, now: due))
        }
        // The first is alone, and has its answer at once.
        #expect(beacons == 1)
        #expect(others == 1)
    }
}
