import NearbyCore
import Testing

@testable import NearbyEngine

/// Another run of a connected peer is a hint that anybody may replay.
struct RestartSuspicionTests {
    private static let peer = PeerID(high: 9, low: 0)
    private static let token = ChannelToken(value: 1)

    /// Connected with run 1 of the peer, which we would invite.
    private func connected() -> InvitationMachine {
        var machine = InvitationMachine(own: PeerID(high: 1, low: 0), role: .agent, seed: 1)
        _ = machine.handle(sighting(1), now: .zero)
        _ = machine.handle(
            .admitted(
                Self.token, peer: Self.peer, run: RunID(value: 1), attempt: 1, weAreClient: true),
            now: .zero)
        return machine
    }

    private func sighting(_ run: UInt64) -> InvitationMachine.Input {
        .sighted(Self.peer, run: RunID(value: run), role: .agent, costToCollector: nil)
    }

    private func at(_ milliseconds: Int64) -> Instant { .zero + .milliseconds(milliseconds) }

    @Test func aRestartIsBelievedAfterTheProbeStayedUnanswered() {
        var machine = connected()
        #expect(machine.handle(sighting(2), now: at(0)) == [.probe(Self.token)])
        #expect(machine.nextDeadline == at(0) + Limits.restartTimeout)
        #expect(machine.handle(sighting(2), now: at(1)) == [.drop(.beaconRestartUnproved)])
        let outputs = machine.handle(
            .deadlineReached, now: at(0) + Limits.restartTimeout)
        #expect(outputs == [.invite(Self.peer, attempt: 2)])
    }

    @Test func aNudgeOfAnotherRunIsAskedAboutAsWell() {
        var machine = connected()
        let nudge = InvitationMachine.Input.nudged(Self.peer, RunID(value: 2), attempt: 0)
        #expect(machine.handle(nudge, now: at(0)) == [.probe(Self.token)])
        #expect(machine.handle(.answered(Self.token), now: at(1)).isEmpty)
        #expect(machine.handle(nudge, now: at(2)) == [.drop(.beaconRestartUnproved)])
        #expect(machine.handle(.deadlineReached, now: at(500)).isEmpty)
    }

    /// Two beacons of the past in turn, five times a second for ten minutes.
    @Test func replayedBeaconsOfTwoRunsCostAFewProbesAndNoHandshake() {
        var machine = connected()
        var probes: [Instant] = []
        var invitations = 0
        for index in 0..<3_000 as Range<Int64> {
            let now = at(index * 200)
            for output in machine.handle(sighting(2 + UInt64(index % 2)), now: now) {
                switch output {
                case .probe(let token):
                    probes.append(now)
                    _ = machine.handle(.answered(token), now: now + .milliseconds(1))
                case .invite: invitations += 1
                default: break
                }
            }
            invitations += machine.handle(.deadlineReached, now: now + .milliseconds(100)).count
        }
        #expect(invitations == 0)
        #expect((10...16).contains(probes.count), "\(probes.count)")
    }

    /// Where the answers get lost, each suspicion costs one handshake, and the pauses grow.
    @Test func unansweredDoubtsAboutALivePeerAreFew() {
        var machine = connected()
        var invitations = 0
        for index in 0..<6_000 as Range<Int64> {
            let now = at(index * 100)
            let input = index % 2 == 0 ? sighting(2 + UInt64(index / 2 % 2)) : .deadlineReached
            for case .invite(_, let attempt) in machine.handle(input, now: now) {
                invitations += 1
                _ = machine.handle(
                    .admitted(
                        ChannelToken(value: 100 + UInt32(invitations)), peer: Self.peer,
                        run: RunID(value: 1), attempt: attempt, weAreClient: true), now: now)
            }
        }
        #expect((10...16).contains(invitations), "\(invitations)")
    }

    @Test func aPeerThatDidRestartIsDoubtedAnewAtOnce() {
        var machine = connected()
        for run in 2..<8 as Range<UInt64> {
            let now = at(Int64(run) * 2_000)
            #expect(machine.handle(sighting(run), now: now).count == 1)
            _ = machine.handle(.deadlineReached, now: now + Limits.restartTimeout)
            _ = machine.handle(
                .admitted(
                    ChannelToken(value: UInt32(run)), peer: Self.peer, run: RunID(value: run),
                    attempt: 1, weAreClient: false), now: now + .milliseconds(100))
        }
    }

    @Test func replayedNudgesEndFewBackOffs() {
        var machine = InvitationMachine(own: PeerID(high: 1, low: 0), role: .agent, seed: 1)
        for case .invite(_, let attempt) in machine.handle(sighting(1), now: .zero) {
            _ = machine.handle(.failed(Self.peer, attempt), now: .zero)
        }
        var invitations = 0
        for index in 1..<3_000 as Range<Int64> {
            let nudge = InvitationMachine.Input.nudged(Self.peer, RunID(value: 1), attempt: 0)
            for case .invite(_, let attempt) in machine.handle(nudge, now: at(index * 200)) {
                invitations += 1
                _ = machine.handle(.failed(Self.peer, attempt), now: at(index * 200))
            }
            for case .invite(_, let attempt) in machine.handle(
                .deadlineReached, now: at(index * 200 + 100))
            {
                _ = machine.handle(.failed(Self.peer, attempt), now: at(index * 200 + 100))
            }
        }
        #expect((5..<40).contains(invitations), "\(invitations)")
    }
}
