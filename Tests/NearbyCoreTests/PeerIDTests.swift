import NearbyCore
import Testing

struct PeerIDTests {
    @Test func textAndBytesGiveTheSamePeer() {
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<200 {
            let peer = PeerID(high: generator.next(), low: generator.next())
            #expect(PeerID(text: peer.description) == peer)
            #expect(PeerID(text: peer.description.uppercased()) == peer)
            #expect(PeerID(bytes: peer.bytes) == peer)
        }
    }

    @Test func textIsBase32InGroups() {
        // RFC 4648 §10: "foobar" is MZXW6YTBOI; here padded with ten zero bytes.
        let bytes = Array("foobar".utf8) + [UInt8](repeating: 0, count: 10)
        #expect(PeerID(bytes: bytes)?.description == "mzxw6-ytboi-aaaaa-aaaaa-aaaaaa")
    }

    @Test func wrongTextIsNoPeer() {
        let right = PeerID(high: 1, low: 2).description
        #expect(PeerID(text: String(right.dropLast())) == nil)
        #expect(PeerID(text: right + "a") == nil)
        #expect(PeerID(text: "1" + right.dropFirst()) == nil)
        // The last digit holds three bits only.
        #expect(PeerID(text: String(right.dropLast()) + "b") == nil)
        #expect(PeerID(bytes: [1, 2, 3]) == nil)
    }

    @Test func orderIsBytewise() {
        var generator = SeededGenerator(seed: 2)
        for _ in 0..<200 {
            let left = PeerID(high: generator.next() % 3, low: generator.next())
            let right = PeerID(high: generator.next() % 3, low: generator.next())
            #expect((left < right) == left.bytes.lexicographicallyPrecedes(right.bytes))
        }
    }
}
