import NearbyCore
import NearbyWire
import Testing
import VectorFile

struct MeshPacketTests {
    private let packet = MeshPacket(
        priority: .reliable, source: ShortID(value: 0x0102_0304_0506_0708),
        destination: ShortID(value: 0x1112_1314_1516_1718), inside: [0x80, 0xaa, 0xbb])

    @Test func meshPacket() throws {
        // The inside ends the packet: only its first byte must be there.
        try expectSound(
            vector: "mesh-packet", packet,
            emit: {
                var writer = ByteWriter()
                $0.emit(into: &writer)
                return writer.bytes
            }, parse: { try MeshPacket(parsing: $0) },
            shortest: MeshPacket.headerByteCount + 1)
    }

    @Test func eachRelayTakesOneHopUntilNoneIsLeft() {
        var next: MeshPacket? = packet
        var relays = 0
        while let here = next {
            #expect(here.hopCount == relays + 1)
            next = here.forwarded()
            relays += 1
        }
        #expect(relays == Int(MeshPacket.hopLimitAtStart))
    }

    @Test func hopLimitZeroIsNotForwarded() {
        var spent = packet
        spent.hopLimit = 0
        #expect(spent.forwarded() == nil)
    }

    @Test func anotherVersionIsRefused() throws {
        var bytes = vector("mesh-packet")
        bytes[0] = 0x22
        #expect(throws: WireError.unsupportedVersion(lowest: 2, highest: 2)) {
            try MeshPacket(parsing: bytes[...])
        }
    }

    @Test func frameBundle() throws {
        let bundle = FrameBundle(frames: [[0x05], [0xa0, 1, 2, 3], [0x13, 1]])
        try expectSound(
            vector: "frame-bundle", bundle, emit: \.bytes,
            parse: { try FrameBundle(parsing: $0.dropFirst()) })
    }

    @Test func bundleHoldsNeitherBundleNorNothing() {
        for body in [[1, 2, 0x04, 0], [1, 0], [0, 1]] as [[UInt8]] {
            #expect(throws: WireError.self) { try FrameBundle(parsing: body[...]) }
        }
    }

    @Test func bundleOfTooManyFramesIsRefused() {
        let count = Limits.bundleFramesMax + 1
        let frames = [ArraySlice<UInt8>](repeating: [0x05], count: count)
        #expect(throws: WireError.tooLong(limit: Limits.bundleFramesMax, actual: count)) {
            try FrameBundle(parsing: FrameBundle(frames: frames).bytes.dropFirst())
        }
    }
}
