import NearbyCore
import NearbyWire
import Testing

@testable import NearbyAvahi

@Suite struct AvahiMachineTests {
    static let start = Instant(nanoseconds: 5_000_000_000)
    static let later = start + .seconds(10)

    static func machine() -> AvahiMachine { AvahiMachine(peer: Sample.own, name: "bench") }

    /// A machine that has just asked for a client.
    static func connecting() -> AvahiMachine {
        var machine = machine()
        _ = machine.handle(.links([Sample.link]), now: start)
        _ = machine.handle(.start, now: start)
        #expect(machine.handle(.deadlineReached, now: start + .milliseconds(100)) == [.connect])
        return machine
    }

    static func published() -> AvahiMachine {
        var machine = connecting()
        _ = machine.handle(.daemon(.running), now: later)
        _ = machine.handle(.group(.established), now: later)
        #expect(machine.phase == .serving(.published))
        return machine
    }

    /// A machine that knows the peers with these numbers.
    static func knowing(_ numbers: [Int]) -> AvahiMachine {
        var machine = published()
        for number in numbers {
            _ = machine.handle(.found(Sample.key(number)), now: later)
            _ = machine.handle(.resolved(Sample.key(number), Sample.answer(number)), now: later)
        }
        return machine
    }

    static func found(_ number: Int) -> FoundPeer {
        let record = ServiceRecord(
            peer: Sample.peer(number), role: .agent, port: 4_577, info: .empty)
        return FoundPeer(
            record: record, name: Sample.key(number).nameText,
            endpoints: [Sample.endpoint(number)])
    }

    // MARK: The daemon

    @Test func theFirstClientIsMadeAfterTheNodesOwnFirstSteps() {
        var machine = Self.machine()
        #expect(machine.nextDeadline == nil)
        #expect(machine.handle(.start, now: Self.start) == [])
        #expect(machine.nextDeadline == Self.start + .milliseconds(100))
        #expect(machine.handle(.deadlineReached, now: Self.start) == [])
    }

    @Test func aDaemonThatIsAbsentIsToldOfOnceAndServesWhenItComes() {
        var machine = Self.connecting()
        #expect(machine.handle(.daemon(.absent), now: Self.later) == [.diagnostic(.noDaemon)])
        #expect(machine.nextDeadline == nil)
        let outputs = machine.handle(.daemon(.running), now: Self.later)
        #expect(outputs == [.browse, .publish(name: "bench", on: [Sample.link])])
        #expect(
            machine.handle(.group(.established), now: Self.later) == [
                .diagnostic(.published("bench"))
            ])
    }

    @Test func withoutDBusItIsTriedAgainWithPausesUpToAMinute() {
        var machine = Self.connecting()
        var now = Self.later
        #expect(
            machine.handle(.clientLost("x"), now: now) == [.disconnect, .diagnostic(.noDaemon)])
        for pause in [1, 2, 4, 8, 16, 32, 60, 60] {
            #expect(machine.phase == .retrying(at: now + .seconds(pause)))
            now = now + .seconds(pause)
            #expect(machine.handle(.deadlineReached, now: now) == [.connect])
            #expect(machine.handle(.clientLost("x"), now: now) == [.disconnect])
        }
    }

    @Test func aDaemonThatDiesIsForgottenWithAllThatItKnew() {
        var machine = Self.knowing([1])
        let lost = machine.handle(.clientLost("gone"), now: Self.later)
        #expect(
            lost == [
                .disconnect, .diagnostic(.daemonLost("gone")), .diagnostic(.lost(Self.found(1))),
                .advertise([]),
            ])
        #expect(machine.serviceCount == 0)
        let now = Self.later + .seconds(1)
        #expect(machine.handle(.deadlineReached, now: now) == [.connect])
        // Told already.
        #expect(machine.handle(.daemon(.absent), now: now) == [])
        #expect(
            machine.handle(.daemon(.running), now: now) == [
                .browse, .publish(name: "bench", on: [Sample.link]),
            ])
    }

    @Test func aDaemonThatDiesAgainAndAgainIsLeftAloneForLonger() {
        var machine = Self.published()
        var now = Self.later
        for pause in [1, 2, 4, 8] {
            _ = machine.handle(.clientLost("gone"), now: now)
            #expect(machine.phase == .retrying(at: now + .seconds(pause)))
            now = now + .seconds(pause)
            _ = machine.handle(.deadlineReached, now: now)
            _ = machine.handle(.daemon(.running), now: now)
        }
        now = now + .seconds(60)
        _ = machine.handle(.clientLost("gone"), now: now)
        #expect(machine.phase == .retrying(at: now + .seconds(1)))
    }

    @Test func whileTheDaemonFindsAHostNameNothingIsPublished() {
        var machine = Self.published()
        #expect(machine.handle(.daemon(.busy), now: Self.later) == [.withdraw])
        #expect(machine.phase == .serving(.none))
        let outputs = machine.handle(.daemon(.running), now: Self.later)
        #expect(outputs == [.publish(name: "bench", on: [Sample.link])])
        #expect(machine.handle(.daemon(.running), now: Self.later) == [])
    }

    @Test func aBrowserThatFailsIsALostClient() {
        var machine = Self.published()
        let outputs = machine.handle(.browserLost("refused"), now: Self.later)
        #expect(outputs == [.disconnect, .diagnostic(.daemonLost("refused"))])
    }

    // MARK: Our own service

    @Test func aTakenNameIsReplacedAndAfterManyThereIsARest() {
        var machine = Self.connecting()
        _ = machine.handle(.daemon(.running), now: Self.later)
        let suffix = Sample.own.description.prefix(5)
        for number in 1..<16 {
            let name = number == 1 ? "bench \(suffix)" : "bench \(suffix) \(number + 1)"
            let outputs = machine.handle(.group(.collision), now: Self.later)
            #expect(outputs == [.publish(name: name, on: [Sample.link])])
        }
        #expect(machine.handle(.group(.collision), now: Self.later) == [.withdraw])
        #expect(machine.nextDeadline == Self.later + .seconds(60))
        let again = machine.handle(.deadlineReached, now: Self.later + .seconds(60))
        #expect(again == [.publish(name: "bench \(suffix) 17", on: [Sample.link])])
    }

    @Test func publishingThatFailsIsTriedAgainAfterAMinute() {
        var machine = Self.connecting()
        _ = machine.handle(.daemon(.running), now: Self.later)
        let failed = machine.handle(.group(.failed("no")), now: Self.later)
        #expect(failed == [.diagnostic(.publishingFailed("no")), .withdraw])
        #expect(machine.handle(.links([Sample.otherLink]), now: Self.later) == [])
        let again = machine.handle(.deadlineReached, now: Self.later + .seconds(60))
        #expect(again == [.publish(name: "bench", on: [Sample.otherLink])])
    }

    @Test func aNewLinkIsPublishedOnAndALostOneStaysSo() {
        var machine = Self.published()
        let both = [Sample.link, Sample.otherLink]
        #expect(
            machine.handle(.links(both), now: Self.later) == [.publish(name: "bench", on: both)])
        _ = machine.handle(.group(.established), now: Self.later)
        #expect(machine.handle(.links([Sample.otherLink]), now: Self.later) == [])
        #expect(machine.handle(.links(both), now: Self.later) == [])
    }

    @Test func withoutALinkNothingIsPublishedUntilThereIsOne() {
        var machine = Self.machine()
        _ = machine.handle(.start, now: Self.start)
        _ = machine.handle(.deadlineReached, now: Self.later)
        #expect(machine.handle(.daemon(.running), now: Self.later) == [.browse])
        let outputs = machine.handle(.links([Sample.link]), now: Self.later)
        #expect(outputs == [.publish(name: "bench", on: [Sample.link])])
    }

    // MARK: The services of others

    @Test func aServiceIsResolvedToldOfAndTried() {
        var machine = Self.published()
        let key = Sample.key(1)
        #expect(machine.handle(.found(key), now: Self.later) == [.resolve(key)])
        #expect(machine.handle(.found(key), now: Self.later) == [])
        let resolved = machine.handle(.resolved(key, Sample.answer(1)), now: Self.later)
        #expect(
            resolved == [.diagnostic(.found(Self.found(1))), .advertise([Sample.endpoint(1)])])
        #expect(machine.handle(.resolved(key, Sample.answer(1)), now: Self.later) == [])
        let moved = machine.handle(
            .resolved(key, Sample.answer(2, peer: Sample.peer(1))), now: Self.later)
        var changed = Self.found(1)
        changed.endpoints = [Sample.endpoint(2)]
        #expect(moved == [.diagnostic(.changed(changed)), .advertise([Sample.endpoint(2)])])
        let gone = machine.handle(.removed(key), now: Self.later)
        #expect(gone == [.forget(key), .diagnostic(.lost(changed)), .advertise([])])
    }

    @Test func aServiceOfOurOwnIsNotTried() {
        var machine = Self.published()
        let key = Sample.key(1)
        _ = machine.handle(.found(key), now: Self.later)
        let answer = Sample.answer(1, peer: Sample.own)
        #expect(machine.handle(.resolved(key, answer), now: Self.later) == [])
        #expect(machine.serviceCount == 1)
    }

    @Test func aServiceThatDoesNotAnswerIsNotTriedAnyMore() {
        var machine = Self.knowing([1])
        let outputs = machine.handle(.unresolved(Sample.key(1)), now: Self.later)
        #expect(
            outputs == [
                .forget(Sample.key(1)), .diagnostic(.lost(Self.found(1))), .advertise([]),
            ])
        #expect(machine.nextDeadline == Self.later + .seconds(60))
        let again = machine.handle(.deadlineReached, now: Self.later + .seconds(60))
        #expect(again == [.resolve(Sample.key(1))])
    }

    @Test func liesAreCounted() {
        var machine = Self.published()
        _ = machine.handle(.found(Sample.key(1)), now: Self.later)
        let outputs = machine.handle(
            .resolved(Sample.key(1), Sample.answer(1, port: 1)), now: Self.later)
        #expect(outputs.contains(.drop(.serviceMalformed)))
    }

    @Test func whatWasDroppedForWantOfRoomIsAskedForOnceThereIsSome() {
        var machine = Self.published()
        var drops = 0
        for number in 0..<300 {
            let outputs = machine.handle(.found(Sample.key(number)), now: Self.later)
            drops += outputs.count { $0 == .drop(.serviceTableFull) }
        }
        #expect(machine.serviceCount == 256)
        #expect(drops == 44)
        var outputs: [AvahiMachine.Output] = []
        for number in 0..<128 {
            #expect(!outputs.contains(.browse))
            outputs = machine.handle(.removed(Sample.key(number)), now: Self.later)
        }
        #expect(outputs.last == .browse)
        #expect(outputs.contains(.forget(Sample.key(255))))
        #expect(machine.serviceCount == 0)
    }

    @Test func aFloodOfServicesIsNoFloodOfLines() {
        var machine = Self.published()
        func diagnostics(_ numbers: Range<Int>, at now: Instant) -> [AvahiDiagnostic] {
            numbers.flatMap { number in
                machine.handle(.found(Sample.key(number)), now: now)
                    + machine.handle(
                        .resolved(Sample.key(number), Sample.answer(number)), now: now)
            }.compactMap { if case .diagnostic(let diagnostic) = $0 { diagnostic } else { nil } }
        }
        let first = diagnostics(0..<200, at: Self.later)
        #expect(first.count == 60)
        #expect(first.last == .silenced)
        #expect(diagnostics(200..<201, at: Self.later + .seconds(60)) == [.found(Self.found(200))])
    }

    /// Whatever comes in whatever order: nothing grows without bound, and no deadline stays behind.
    @Test(arguments: 1...8 as ClosedRange<UInt64>) func anythingMayHappen(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var machine = Self.machine()
        var now = Self.start
        var watched: Set<ServiceKey> = []
        _ = machine.handle(.start, now: now)
        for _ in 0..<3_000 {
            now = now + .milliseconds(Int64(generator.next() % 2_000))
            let outputs = machine.handle(Self.anyInput(using: &generator), now: now)
            for output in outputs + machine.handle(.deadlineReached, now: now) {
                switch output {
                case .resolve(let key): #expect(watched.insert(key).inserted)
                case .forget(let key): watched.remove(key)
                case .disconnect: watched = []
                case .advertise(let endpoints): #expect(endpoints.count <= 48)
                case .connect, .publish, .withdraw, .browse, .diagnostic, .drop: break
                }
            }
            #expect(machine.serviceCount <= 256)
            #expect(watched.count <= 256)
            if let deadline = machine.nextDeadline { #expect(deadline > now) }
        }
    }

    static func anyInput(using generator: inout SeededGenerator) -> AvahiMachine.Input {
        let number = Int(generator.next() % 400)
        let link = generator.next() % 3 == 0 ? Sample.otherLink : Sample.link
        let key = Sample.key(number, on: link)
        switch generator.next() % 40 {
        case 0: return .clientLost("gone")
        case 1: return .daemon([.absent, .busy, .running][number % 3])
        case 2: return .daemon(.running)
        case 3: return .group([.established, .collision, .failed("no")][number % 3])
        case 4: return .links([[Sample.link], [Sample.link, Sample.otherLink], []][number % 3])
        case 5: return .browserLost("gone")
        case 6..<10: return .removed(key)
        case 10..<14: return .unresolved(key)
        case 14..<28:
            return .resolved(key, Sample.answer(number, port: number % 9 == 0 ? 1 : 4_577))
        default: return .found(key)
        }
    }
}
