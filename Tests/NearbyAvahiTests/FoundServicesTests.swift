import NearbyCore
import NearbyWire
import Testing

@testable import NearbyAvahi

@Suite struct FoundServicesTests {
    static let now = Instant(nanoseconds: 1_000_000_000)

    static func table() -> FoundServices {
        var table = FoundServices(own: Sample.own)
        _ = table.setLinks([Sample.link])
        return table
    }

    /// A table in which these were found and answered.
    static func table(knowing answers: [(key: ServiceKey, answer: ServiceAnswer)]) -> FoundServices
    {
        var table = table()
        for (key, answer) in answers {
            _ = table.add(key)
            _ = table.takeUnresolved(now: now)
            _ = table.resolve(key, answer)
        }
        return table
    }

    @Test func fewAreAskedAtOnce() {
        var table = Self.table()
        for number in 0..<20 { _ = table.add(Sample.key(number)) }
        #expect(table.takeUnresolved(now: Self.now) == (0..<8).map { Sample.key($0) })
        #expect(table.takeUnresolved(now: Self.now) == [])
        _ = table.resolve(Sample.key(3), Sample.answer(3))
        table.fail(Sample.key(4), now: Self.now)
        #expect(table.takeUnresolved(now: Self.now) == [Sample.key(8), Sample.key(9)])
    }

    @Test func onlyLinksInUseAreAsked() {
        var table = Self.table()
        let elsewhere = Sample.key(1, on: Sample.otherLink)
        _ = table.add(elsewhere)
        #expect(table.takeUnresolved(now: Self.now) == [])
        #expect(table.setLinks([Sample.link, Sample.otherLink]) == [])
        #expect(table.takeUnresolved(now: Self.now) == [elsewhere])
        _ = table.resolve(elsewhere, Sample.answer(1))
        #expect(table.peers.map(\.endpoints) == [[Sample.endpoint(1, on: Sample.otherLink)]])
        #expect(table.setLinks([Sample.link]) == [elsewhere])
        #expect(table.peers == [])
    }

    @Test func whoDoesNotAnswerIsAskedAgainLater() {
        var table = Self.table()
        _ = table.add(Sample.key(1))
        _ = table.takeUnresolved(now: Self.now)
        table.fail(Sample.key(1), now: Self.now)
        #expect(table.takeUnresolved(now: Self.now + .seconds(59)) == [])
        #expect(table.nextDeadline == Self.now + .seconds(60))
        #expect(table.takeUnresolved(now: Self.now + .seconds(60)) == [Sample.key(1)])
        #expect(table.nextDeadline == nil)
    }

    @Test func whatCannotBeAskedForIsNoReasonToWakeUp() {
        var table = Self.table()
        _ = table.add(Sample.key(1))
        _ = table.takeUnresolved(now: Self.now)
        table.fail(Sample.key(1), now: Self.now)
        _ = table.setLinks([Sample.otherLink])
        #expect(table.nextDeadline == nil)
        _ = table.setLinks([Sample.link])
        for number in 2..<10 { _ = table.add(Sample.key(number)) }
        #expect(table.takeUnresolved(now: Self.now).count == 8)
        #expect(table.nextDeadline == nil)
        _ = table.resolve(Sample.key(2), Sample.answer(2))
        #expect(table.nextDeadline == Self.now + .seconds(60))
    }

    @Test func aPeerHasTheAddressesOfAllItsServices() {
        let six = TransportAddress.ipv6(high: 0xfe80 << 48, low: 7, port: 0)
        let table = Self.table(knowing: [
            (Sample.key(1), Sample.answer(1)),
            (Sample.key(1, .ipv6), Sample.answer(1, address: six)),
            (Sample.key(2), Sample.answer(1)),
        ])
        #expect(table.count == 3)
        #expect(table.peers.count == 1)
        let scoped = Endpoint(link: Sample.link, address: six.with(port: 4_577))
        #expect(table.peers.first?.endpoints == [Sample.endpoint(1), scoped])
        #expect(table.peers.first?.name == "s0001")
    }

    @Test func ourselvesAreNoPeer() {
        let table = Self.table(knowing: [(Sample.key(1), Sample.answer(1, peer: Sample.own))])
        #expect(table.count == 1)
        #expect(table.peers == [])
    }

    @Test func whatNoNodeSaysIsRefused() {
        let wrong: [ServiceAnswer] = [
            ServiceAnswer(address: .ipv4(address: 0x0a00_0001, port: 0), port: 4_577, text: []),
            ServiceAnswer(address: .ipv4(address: 0x0a00_0001, port: 0), port: 1, text: [0xff]),
            Sample.answer(1, port: 4_578),
            Sample.answer(1, address: .ipv4(address: 0, port: 0)),
            Sample.answer(1, address: .ipv4(address: 0x7f00_0001, port: 0)),
            Sample.answer(1, address: .ipv4(address: 0xe000_00fb, port: 0)),
            Sample.answer(1, address: .ipv4(address: .max, port: 0)),
            Sample.answer(1, address: .ipv6(high: 0, low: 0, port: 0)),
            Sample.answer(1, address: .ipv6(high: 0, low: 1, port: 0)),
            Sample.answer(1, address: .ipv6(high: 0xff02 << 48, low: 1, port: 0)),
        ]
        for answer in wrong {
            var table = Self.table(knowing: [(Sample.key(1), Sample.answer(1))])
            #expect(table.resolve(Sample.key(1), answer) == .refused(.serviceMalformed))
            #expect(table.peers == [], "\(answer.address)")
            #expect(table.resolve(Sample.key(1), Sample.answer(1)) == .accepted)
            #expect(table.peers.count == 1)
        }
    }

    @Test func anAnswerThatNobodyAskedForIsNothing() {
        var table = Self.table()
        #expect(table.resolve(Sample.key(1), Sample.answer(1)) == .accepted)
        #expect(table.peers == [])
        _ = table.add(Sample.key(1))
        _ = table.resolve(Sample.key(1), Sample.answer(1))
        #expect(table.peers == [])
    }

    @Test func theTableIsBoundedAndTheHopelessMakeRoom() {
        var table = Self.table()
        for number in 0..<256 { #expect(table.add(Sample.key(number)).verdict == .accepted) }
        let refused = table.add(Sample.key(256))
        #expect(refused.verdict == .refused(.serviceTableFull))
        #expect(refused.evicted == nil)
        #expect(table.isIncomplete)
        #expect(table.add(Sample.key(0)).verdict == .accepted)
        _ = table.takeUnresolved(now: Self.now)
        table.fail(Sample.key(5), now: Self.now)
        let taken = table.add(Sample.key(257))
        #expect(taken.verdict == .accepted)
        #expect(taken.evicted == Sample.key(5))
        #expect(table.count == 256)
    }

    @Test func namesThatNoDNSHasAreRefused() {
        var table = Self.table()
        var key = Sample.key(1)
        key.name = [UInt8](repeating: 0x61, count: 64)
        #expect(table.add(key).verdict == .refused(.serviceMalformed))
        key = Sample.key(1)
        key.domain = [UInt8](repeating: 0x61, count: 256)
        #expect(table.add(key).verdict == .refused(.serviceMalformed))
        #expect(table.count == 0)
    }

    @Test func collectorsAreTriedFirstAndEveryPeerOnceBeforeAnyTwice() {
        let second = TransportAddress.ipv4(address: 0x0a00_0100, port: 0)
        let table = Self.table(knowing: [
            (Sample.key(1), Sample.answer(1)),
            (Sample.key(1, .ipv6), Sample.answer(1, address: second)),
            (Sample.key(2), Sample.answer(2)),
            (Sample.key(3), Sample.answer(3, role: .collector)),
        ])
        #expect(
            FoundServices.endpoints(of: table.peers) == [
                Sample.endpoint(3), Sample.endpoint(1), Sample.endpoint(2), Sample.endpoint(256),
            ])
    }

    @Test func theAddressesHandedOnAreBounded() {
        let table = Self.table(
            knowing: (0..<100).map { (Sample.key($0), Sample.answer($0 + 1)) })
        #expect(table.peers.count == 100)
        #expect(FoundServices.endpoints(of: table.peers) == (1...48).map { Sample.endpoint($0) })
    }

    @Test func aPeerIsHandedOnWithFourAddressesAtMost() {
        let table = Self.table(
            knowing: (0..<9).map { (Sample.key($0), Sample.answer($0 + 1, peer: Sample.peer(0))) })
        #expect(table.peers.map(\.endpoints) == [(1...4).map { Sample.endpoint($0) }])
    }
}
