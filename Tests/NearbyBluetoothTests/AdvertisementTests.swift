import NearbyCore
import NearbyWire
import Testing
import VectorFile

@testable import NearbyBluetooth

struct AdvertisementTests {
    static let own = Advertisement(
        networkTag: 0x0102_0304, psm: 0x83, peerPrefix: 0xa1b2_c3d4_e5f6)!

    @Test func emitsTheGoldenVector() throws {
        #expect(Self.own.bytes == vector("advertisement"))
        #expect(Self.own.bytes.count == 31)
    }

    @Test func parsesWhatItEmits() throws {
        #expect(try Advertisement(parsing: Self.own.bytes) == Self.own)
    }

    @Test func isFoundBehindOtherStructures() throws {
        let flags: [UInt8] = [0x02, 0x01, 0x06]
        let otherService: [UInt8] = [0x05, 0x16, 0x0d, 0x18, 0x01, 0x02]
        let data = flags + otherService + Self.own.bytes
        #expect(try Advertisement(parsing: data) == Self.own)
    }

    @Test func laterVersionsMayBeLonger() throws {
        var longer = Self.own.bytes + [0xff, 0xff]
        longer[0] += 2
        #expect(try Advertisement(parsing: longer) == Self.own)
    }

    @Test(arguments: [
        "", "00", "020106", "03021a18", "0201060000000000",
        // Service data with another UUID of 128 bits.
        "12214db9e3a5c0211f8d624e74656c7669730000",
    ])
    func othersAreNotOurs(_ data: String) throws {
        #expect(try Advertisement(parsing: hex(data)) == nil)
    }

    @Test func brokenOnesAreRefused() {
        var foreignVersion = Self.own.bytes
        foreignVersion[18] = 1
        var fixedPSM = Self.own.bytes
        fixedPSM[23] = 0x25
        for bytes in [[5, 0x21], [30, 0x21], foreignVersion, fixedPSM] {
            #expect(throws: WireError.self) { try Advertisement(parsing: bytes) }
        }
    }

    @Test func damageDoesNotTrap() {
        let flags: [UInt8] = [0x02, 0x01, 0x06]
        for bytes in damaged(flags + Self.own.bytes) { _ = try? Advertisement(parsing: bytes) }
        var random = SeededGenerator(seed: 1)
        for _ in 0..<20_000 {
            let count = Int.random(in: 0...64, using: &random)
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            _ = try? Advertisement(parsing: bytes)
        }
    }

    @Test func onlyDynamicPSMsAreAdvertised() {
        #expect(Advertisement(networkTag: 0, psm: 0x7f, peerPrefix: 0) == nil)
    }

    @Test func prefixAndTagAreTheFirstBytes() {
        let peer = PeerID(high: 0x1122_3344_5566_7788, low: 0)
        #expect(Advertisement.prefix(of: peer) == 0x1122_3344_5566)
        #expect(Advertisement.tag(of: NetworkTag(value: 0xa1a2_a3a4_a5a6_a7a8)) == 0xa1a2_a3a4)
    }

    @Test func addressesAreReadAndWritten() {
        let text = "00:AA:01:0B:00:42"
        let address = BluetoothAddress(text: text, kind: .lowEnergyPublic)
        #expect(address?.value == 0x00aa_010b_0042)
        #expect(address?.description == text)
        for bad in ["", "00:AA:01:0B:00", "00:AA:01:0B:00:4", "00:AA:01:0B:00:+2", "hci0"] {
            #expect(BluetoothAddress(text: bad, kind: .classic) == nil)
        }
    }
}
