import NearbyCore
import Testing

@testable import NearbyEngine

/// Whom a program calls, the tie-break does not let wait for others.
struct CalledPeersTests {
    private var machine = InvitationMachine(
        own: PeerID(high: 1, low: 0), role: .relay, seed: 1, accepting: 256)

    private static func peer(_ number: Int) -> PeerID { PeerID(high: UInt64(number) + 2, low: 0) }

    private mutating func see(_ count: Int) -> [PeerID] {
        (0..<count).flatMap { number in
            Self.invited(
                machine.handle(
                    .sighted(
                        Self.peer(number), run: RunID(value: 1), role: .relay,
                        costToCollector: nil), now: .zero))
        }
    }

    private static func invited(_ outputs: [InvitationMachine.Output]) -> [PeerID] {
        outputs.compactMap { if case .invite(let peer, _) = $0 { peer } else { nil } }
    }

    /// The attempts that nobody answers would last for twelve seconds.
    @Test mutating func theyAreInvitedBesideOthersThatDoNotAnswer() {
        let wanted = see(20)
        #expect(wanted.count == Limits.invitationsAtOnce)
        let called = Self.peer(19)
        #expect(!wanted.contains(called))
        #expect(Self.invited(machine.handle(.dialed(called, true), now: .zero)) == [called])
    }

    /// Old beacons that somebody plays back, or Avahi's memory of boards that are switched off.
    @Test mutating func whoDoesNotAnswerLeavesItsPlaceToOthers() throws {
        var invited = Set(see(16))
        #expect(invited.count == Limits.invitationsAtOnce)
        var now = Instant.zero
        for _ in 0..<3 {
            now = try #require(machine.nextDeadline)
            invited.formUnion(Self.invited(machine.handle(.deadlineReached, now: now)))
        }
        #expect(invited.count == 16)
        #expect(now <= .zero + .seconds(6))
        // A late answer is as welcome.
        _ = machine.handle(
            .admitted(
                ChannelToken(value: 1), peer: Self.peer(0), run: RunID(value: 1), attempt: 1,
                weAreClient: true), now: now)
        #expect(machine.connectedCount == 1)
    }

    @Test func ofThoseThatAnswerLateNoMoreAreTakenThanOtherwise() throws {
        var machine = InvitationMachine(own: PeerID(high: 1, low: 0), role: .agent, seed: 1)
        var attempts: [PeerID: UInt16] = [:]
        func note(_ outputs: [InvitationMachine.Output]) {
            for case .invite(let peer, let attempt) in outputs { attempts[peer] = attempt }
        }
        for number in 0..<20 {
            note(
                machine.handle(
                    .sighted(
                        Self.peer(number), run: RunID(value: 1), role: .relay,
                        costToCollector: nil), now: .zero))
        }
        var now = Instant.zero
        while attempts.count < 16 {
            now = try #require(machine.nextDeadline)
            note(machine.handle(.deadlineReached, now: now))
        }
        var closed = 0
        for (number, entry) in attempts.enumerated() {
            let outputs = machine.handle(
                .admitted(
                    ChannelToken(value: UInt32(number) + 1), peer: entry.key,
                    run: RunID(value: 1), attempt: entry.value, weAreClient: true), now: now)
            closed += outputs.count { if case .close(_, .dropped) = $0 { true } else { false } }
        }
        #expect(machine.connectedCount == Limits.neighboursAccepted + Limits.neighboursWanted)
        #expect(closed == 4)
    }

    @Test func atACollectorCallersThatFallSilentLeaveRoomForOthers() throws {
        var machine = InvitationMachine(own: PeerID(high: 1, low: 0), role: .collector, seed: 1)
        func call(_ number: Int, _ now: Instant) -> [PeerID] {
            _ = machine.handle(
                .sighted(
                    Self.peer(number), run: RunID(value: 1), role: .agent, costToCollector: nil),
                now: now)
            return Self.invited(
                machine.handle(
                    .nudged(Self.peer(number), RunID(value: 1), attempt: 1), now: now))
        }
        for number in 0..<20 { #expect(call(number, .zero) == [Self.peer(number)]) }
        let now = try #require(machine.nextDeadline)
        _ = machine.handle(.deadlineReached, now: now)
        for number in 20..<32 { #expect(call(number, now) == [Self.peer(number)]) }
    }

    @Test mutating func theirNumberIsBounded() throws {
        var invited = Set(see(100))
        var now = Instant.zero
        while let next = machine.nextDeadline, next < .zero + .seconds(60) {
            now = next
            invited.formUnion(Self.invited(machine.handle(.deadlineReached, now: now)))
        }
        #expect(invited.count == 16)
    }

    @Test mutating func soManyAtATime() {
        _ = see(100)
        for number in 0..<100 { _ = machine.handle(.dialed(Self.peer(number), true), now: .zero) }
        let outputs = machine.handle(.failed(Self.peer(0), 1), now: .zero)
        // One place became free.
        #expect(Self.invited(outputs).count == 1)
    }

    @Test mutating func theirBackOffEnds() throws {
        let peer = Self.peer(0)
        var outputs = machine.handle(
            .sighted(peer, run: RunID(value: 1), role: .relay, costToCollector: nil), now: .zero)
        var now = Instant.zero
        for _ in 0..<5 {
            let attempt = try #require(Self.attempt(outputs))
            _ = machine.handle(.failed(peer, attempt), now: now)
            now = try #require(machine.nextDeadline)
            outputs = machine.handle(.deadlineReached, now: now)
        }
        _ = machine.handle(.failed(peer, try #require(Self.attempt(outputs))), now: now)
        #expect(try #require(machine.nextDeadline) > now + .seconds(20))
        #expect(Self.invited(machine.handle(.dialed(peer, true), now: now)) == [peer])
    }

    @Test mutating func whoHasJustDeclinedIsLeftAlone() throws {
        let peer = Self.peer(0)
        let outputs = machine.handle(
            .sighted(peer, run: RunID(value: 1), role: .relay, costToCollector: nil), now: .zero)
        let attempt = try #require(Self.attempt(outputs))
        _ = machine.handle(.declined(peer, attempt, retryAfter: .seconds(9)), now: .zero)
        #expect(Self.invited(machine.handle(.dialed(peer, true), now: .zero)) == [])
    }

    private static func attempt(_ outputs: [InvitationMachine.Output]) -> UInt16? {
        outputs.lazy.compactMap { if case .invite(_, let attempt) = $0 { attempt } else { nil } }
            .first
    }
}
