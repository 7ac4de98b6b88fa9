import NearbyCore
import NearbyWire
import Testing
import VectorFile

@Suite struct BeaconNameTests {
    static let names = ["A", "Änna", String(repeating: "x", count: 63)]

    @Test(arguments: names) func aNameIsReadAsItWasWritten(text: String) throws {
        let name = try #require(BeaconName(text))
        #expect(name.bytes.count == 67)
        #expect(BeaconName(in: name.bytes) == name)
    }

    @Test func theGoldenNameIsReadAndWritten() {
        let bytes = vector("beacon-name")
        #expect(BeaconName("Änna")?.bytes == bytes)
        #expect(BeaconName(in: bytes)?.text == "Änna")
    }

    @Test func aBeaconCarriesItAmongItsExtensions() throws {
        let name = try #require(BeaconName("Anna"))
        let beacon = Beacon(
            dataPort: 7, role: .relay, flags: .hidden, costToCollector: nil, infoDigest: 0,
            name: name)
        let frame = DiscoveryFrame(
            versions: 1...1, network: NetworkTag(value: 1), peer: PeerID(high: 1, low: 2),
            run: RunID(value: 3), body: .beacon(beacon))
        let parsed = try DiscoveryFrame(parsing: frame.bytes[...])
        guard case .beacon(let body) = parsed.body else {
            Issue.record("it is no beacon")
            return
        }
        #expect(BeaconName(in: body.extensions) == name)
        #expect(frame.bytes.count <= DiscoveryFrame.beaconBytesMax)
    }

    @Test func noNameIsNoName() {
        #expect(BeaconName("") == nil)
        #expect(BeaconName(String(repeating: "x", count: 64)) == nil)
        #expect(BeaconName(in: []) == nil)
        #expect(BeaconName(in: [2, 0]) == nil)
        #expect(BeaconName(in: [1, 0]) == nil)
        #expect(BeaconName(in: [1, 2, 0xc3, 0x28]) == nil)
        // Behind extensions of later versions.
        #expect(BeaconName(in: [9, 1, 5, 1, 1, 65])?.text == "A")
    }

    @Test func everyTruncationAndEveryBitFlipIsANameOrNone() throws {
        let bytes = try #require(BeaconName("Änna")).bytes
        for count in 0..<bytes.count { _ = BeaconName(in: Array(bytes.prefix(count))) }
        for bit in 0..<bytes.count * 8 {
            var flipped = bytes
            flipped[bit / 8] ^= 1 << (bit % 8)
            if let name = BeaconName(in: flipped) {
                #expect((1...63).contains(name.text.utf8.count))
            }
        }
    }
}
