import NearbyCore
import Testing

@testable import NearbyEngine

struct InboundHandshakesTests {
    private typealias Origin = InboundHandshakes.Origin

    private static func ipv4(
        _ address: UInt32, port: UInt16 = 1, isExpected: Bool = false
    ) -> Origin {
        let address = TransportAddress.ipv4(address: address, port: port)
        return Origin(
            .link(Endpoint(link: LinkID(value: 1), address: address)), firstHop: nil,
            isExpected: isExpected)
    }

    private static func ipv6(_ high: UInt64, _ low: UInt64, link: UInt32 = 1) -> Origin {
        let address = TransportAddress.ipv6(high: high, low: low, port: 1)
        return Origin(
            .link(Endpoint(link: LinkID(value: link), address: address)), firstHop: nil)
    }

    private static func mesh(_ node: UInt64, over hop: UInt64) -> Origin {
        Origin(.mesh(ShortID(value: node)), firstHop: PeerID(high: hop, low: 0))
    }

    private static let linkLocal: UInt64 = 0xfe80_0000_0000_0000
    private static let global: UInt64 = 0x2001_0db8_0000_0000

    /// A table of 16, with one handshake from each origin, numbered from 0, a millisecond apart.
    private func table(_ origins: [Origin]) -> InboundHandshakes {
        var table = InboundHandshakes(limit: 16)
        for (index, origin) in origins.enumerated() {
            table.begin(
                ChannelToken(value: UInt32(index)), from: origin, now: at(Int64(index)))
        }
        return table
    }

    private func at(_ milliseconds: Int64) -> Instant { .zero + .milliseconds(milliseconds) }

    private func token(_ value: UInt32) -> InboundHandshakes.Admission {
        .inPlaceOf(ChannelToken(value: value))
    }

    @Test func oneAddressHasFourWhateverItsPorts() {
        let table = table((1...4).map { Self.ipv4(7, port: $0) })
        #expect(
            table.admission(of: Self.ipv4(7, port: 99), now: at(500))
                == .refused(.handshakeShareFull))
        #expect(table.admission(of: Self.ipv4(8), now: at(500)) == .free)
        #expect(table.admission(of: Self.ipv4(7), now: at(1_000)) == token(0))
    }

    /// A flood from the newcomer's own address, as behind a router that translates addresses.
    @Test func whoWasAnnouncedWaitsLessForAPlaceAmongOthersOfItsAddress() {
        let table = table((1...4).map { Self.ipv4(7, port: $0) })
        let newcomer = Self.ipv4(7, port: 99, isExpected: true)
        #expect(table.admission(of: newcomer, now: at(249)) == .refused(.handshakeShareFull))
        #expect(table.admission(of: newcomer, now: at(250)) == token(0))
        let expected = self.table((1...4).map { Self.ipv4(7, port: $0, isExpected: true) })
        #expect(expected.admission(of: newcomer, now: at(500)) == .refused(.handshakeShareFull))
        #expect(expected.admission(of: newcomer, now: at(1_000)) == token(0))
    }

    @Test func aSubnetCountsOnlyWhenTheTableIsFull() {
        let board: UInt32 = 0x0a00_0100
        var lan = table((1...15).map { Self.ipv4(board + $0) })
        #expect(lan.admission(of: Self.ipv4(board + 16), now: at(15)) == .free)
        lan.begin(ChannelToken(value: 15), from: Self.ipv4(board + 16), now: at(15))
        // Full of those who have just begun: the newcomer repeats its flight and comes in soon.
        #expect(
            lan.admission(of: Self.ipv4(board + 17), now: at(300))
                == .refused(.handshakeTableFull))
        #expect(
            lan.admission(of: Self.ipv4(0xc0a8_0001), now: at(200))
                == .refused(.handshakeTableFull))
        // Somebody from elsewhere has more right to a place than the seventeenth of one subnet.
        #expect(lan.admission(of: Self.ipv4(0xc0a8_0001), now: at(300)) == token(0))
        #expect(lan.admission(of: Self.ipv4(board + 17), now: at(1_000)) == token(0))
        lan.end(ChannelToken(value: 3))
        #expect(lan.admission(of: Self.ipv4(board + 17), now: at(20)) == .free)
    }

    /// Its handshake was dear to both sides: it does not make room for one that has just begun.
    @Test func whoHasKeysIsGivenAsLongAgain() {
        var table = table((1...16).map { Self.ipv4(0x0a00_0100 + $0) })
        table.renew(ChannelToken(value: 0), now: at(900))
        table.renew(ChannelToken(value: 99), now: at(900))
        #expect(table.count == 16)
        let newcomer = Self.ipv4(0x0a00_0163)
        #expect(table.admission(of: newcomer, now: at(1_001)) == token(1))
        for value in 1...15 as ClosedRange<UInt32> { table.end(ChannelToken(value: value)) }
        for index in 0..<15 as Range<UInt32> {
            table.begin(
                ChannelToken(value: 100 + index), from: Self.ipv4(0x0a00_0200 + index),
                now: at(1_800))
        }
        #expect(table.admission(of: newcomer, now: at(1_899)) == .refused(.handshakeTableFull))
        #expect(table.admission(of: newcomer, now: at(1_900)) == token(0))
    }

    @Test func globalIPv6CountsByItsPrefixAndLinkLocalByItsAddress() {
        let outside = table((0..<16).map { Self.ipv6(Self.global, $0) })
        #expect(outside.admission(of: Self.ipv6(Self.linkLocal, 1), now: at(300)) == token(0))
        let inside = table((0..<16).map { Self.ipv6(Self.linkLocal, $0) })
        #expect(
            inside.admission(of: Self.ipv6(Self.global, 1), now: at(300))
                == .refused(.handshakeTableFull))
        #expect(inside.admission(of: Self.ipv6(Self.global, 1), now: at(1_000)) == token(0))
        // The same address on another link is somebody else.
        let twin = table((0..<4).map { _ in Self.ipv6(Self.linkLocal, 1) })
        #expect(twin.admission(of: Self.ipv6(Self.linkLocal, 1, link: 2), now: at(10)) == .free)
    }

    @Test func anAddressWithManyMakesRoomBeforeOthers() {
        let honest = (0..<12).map { Self.ipv6(Self.linkLocal, $0) }
        let many = [Origin](repeating: Self.ipv6(Self.linkLocal, 99), count: 4)
        let table = table(honest + many)
        #expect(table.admission(of: Self.ipv6(Self.linkLocal, 50), now: at(280)) == token(12))
    }

    @Test func whoWasAnnouncedGoesBeforeThoseOfWhomNothingWasHeard() {
        let table = table((0..<16).map { Self.ipv6(Self.linkLocal, $0) })
        let address = TransportAddress.ipv6(high: Self.linkLocal, low: 99, port: 1)
        let path = Path.link(Endpoint(link: LinkID(value: 1), address: address))
        let expected = Origin(path, firstHop: nil, isExpected: true)
        #expect(table.admission(of: expected, now: at(100)) == .refused(.handshakeTableFull))
        #expect(table.admission(of: expected, now: at(250)) == token(0))
        #expect(
            table.admission(of: Origin(path, firstHop: nil), now: at(250))
                == .refused(.handshakeTableFull))
    }

    @Test func whatOneNeighbourForwardsTakesHalfOfTheTable() {
        let ghosts = table((0..<8).map { Self.mesh($0, over: 1) })
        #expect(
            ghosts.admission(of: Self.mesh(9, over: 1), now: at(20))
                == .refused(.handshakeShareFull))
        #expect(ghosts.admission(of: Self.mesh(9, over: 2), now: at(20)) == .free)
        #expect(ghosts.admission(of: Self.ipv4(1), now: at(20)) == .free)
        #expect(ghosts.admission(of: Self.mesh(9, over: 1), now: at(1_000)) == token(0))
        let one = table((0..<4).map { _ in Self.mesh(5, over: 1) })
        #expect(
            one.admission(of: Self.mesh(5, over: 2), now: at(20))
                == .refused(.handshakeShareFull))
    }

    /// Somebody with all addresses of a subnet, as fast as he likes, and one who only wants in.
    @Test func aFloodFromAWholeSubnetLeavesANewcomerAPlace() {
        var table = InboundHandshakes(limit: 16)
        var next: UInt32 = 0
        func attempt(_ origin: Origin, _ now: Instant) -> Bool {
            switch table.admission(of: origin, now: now) {
            case .refused: return false
            case .inPlaceOf(let evicted): table.end(evicted)
            case .free: break
            }
            table.begin(ChannelToken(value: next), from: origin, now: now)
            next += 1
            return true
        }
        for millisecond in 0..<5_000 {
            let flooder = Self.ipv4(0x0a00_0000 + UInt32(millisecond % 250))
            _ = attempt(flooder, at(Int64(millisecond)))
            #expect(table.count <= 16)
        }
        let isIn = attempt(Self.ipv4(0xc0a8_0001), at(5_300))
        #expect(isIn)
    }
}
