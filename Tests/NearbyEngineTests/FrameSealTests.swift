import NearbyCore
import NearbySimulator
import NearbyWire
import Testing

@testable import NearbyEngine

struct FrameSealTests {
    private let cryptography = SimulatedCryptography(peer: PeerID(high: 1, low: 1), seed: 1)
    private let payload = [FrameKind.message.rawValue, 1, 2, 3]

    /// Both ends of a channel; counters begin at `first`.
    private func pair(first: UInt64 = 0) throws -> (client: FrameSeal, server: FrameSeal) {
        let keys = try #require(ChannelKeys((0..<128).map { UInt8($0) }, cryptography))
        return (
            FrameSeal(keys, isClient: true, firstCounter: first),
            FrameSeal(keys, isClient: false, firstCounter: first)
        )
    }

    private func sealed(
        by seal: inout FrameSeal, _ priority: Priority = .fresh
    ) throws -> [UInt8] {
        let datagram = seal.seal(payload, priority: priority)
        return try #require(datagram)
    }

    private func open(_ datagram: [UInt8], by seal: inout FrameSeal) throws -> [UInt8]? {
        let header = try SealedHeader(parsing: datagram[...])
        return try? seal.open(datagram, header).get().map { $0 }
    }

    @Test func whatIsSealedIsOpenedOnce() throws {
        var (client, server) = try pair()
        let datagram = try sealed(by: &client)
        let (once, twice) = (try open(datagram, by: &server), try open(datagram, by: &server))
        #expect(once == payload)
        #expect(twice == nil)
    }

    @Test func atTheCountersEndNothingMoreIsSealed() throws {
        var (client, server) = try pair(first: SealedHeader.counterMax - 1)
        for _ in 0..<2 {
            let datagram = try sealed(by: &client)
            let opened = try open(datagram, by: &server)
            #expect(opened == payload)
        }
        for _ in 0..<2 {
            let refused = client.seal(payload, priority: .fresh)
            #expect(refused == nil)
        }
        // Each priority counts by itself.
        _ = try sealed(by: &client, .bulk)
    }

    @Test func keysAreWornByWhatEitherSideHasSealed() throws {
        var (client, server) = try pair()
        #expect(!client.isWorn(after: 3))
        var last: [UInt8] = []
        for _ in 0..<4 { last = try sealed(by: &server, .bulk) }
        #expect(server.isWorn(after: 3))
        let opened = try open(last, by: &client)
        #expect(opened == payload)
        #expect(client.isWorn(after: 3))
        #expect(!client.isWorn(after: Limits.rekeyFrames))
        var (worn, _) = try pair(first: Limits.rekeyFrames)
        #expect(worn.isWorn(after: Limits.rekeyFrames))
        _ = try sealed(by: &worn, .control)
    }
}
