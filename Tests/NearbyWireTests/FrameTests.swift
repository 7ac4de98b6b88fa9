import NearbyCore
import Testing

@testable import NearbyWire

struct FrameTests {
    private static let packet = MeshPacket(
        priority: .fresh, source: ShortID(value: 1), destination: ShortID(value: 2),
        inside: [0x80, 9])

    private static var packetBytes: [UInt8] {
        var writer = ByteWriter(reserving: 40)
        writer.write(FrameKind.packet.rawValue)
        packet.emit(into: &writer)
        return writer.bytes
    }

    private static let routing = RoutingMessage(
        number: 7, acknowledged: 0, items: [.known(seqno: 3)])

    private static let samples: [(bytes: [UInt8], frame: Frame)] = [
        (LivenessFrame.probe.bytes, .hop(.liveness(.probe))),
        (routing.bytes, .hop(.routing(routing))),
        (packetBytes, .hop(.packet(packet))),
        ([FrameKind.bundle.rawValue, 1, 1, 5], .hop(.bundle(FrameBundle(frames: [[5]])))),
        ([FrameKind.empty.rawValue], .hop(.empty)),
        (CloseFrame(reason: .leaving).bytes, .channel(.close(CloseFrame(reason: .leaving)))),
        (
            PathFrame(isResponse: true, token: 8).bytes,
            .channel(.path(PathFrame(isResponse: true, token: 8)))
        ),
        (
            PathFrame(isResponse: false, token: 8).bytes,
            .channel(.path(PathFrame(isResponse: false, token: 8)))
        ),
        ([FrameKind.message.rawValue, 1, 2], .endToEnd(.message([1, 2]))),
        (
            SegmentFrame(number: 1, offset: 2, data: [3]).bytes,
            .endToEnd(.segment(SegmentFrame(number: 1, offset: 2, data: [3])))
        ),
    ]

    @Test func whatWasWrittenIsRead() throws {
        for (bytes, frame) in Self.samples {
            let parsed = try Frame(parsing: bytes[...])
            #expect(String(reflecting: parsed) == String(reflecting: frame))
        }
    }

    @Test func anUnknownKindIsToldFromAMalformedFrame() {
        #expect(throws: Frame.Refusal.unknownKind) { try Frame(parsing: []) }
        for byte in 0...UInt8.max where FrameKind(rawValue: byte) == nil {
            #expect(throws: Frame.Refusal.unknownKind) { try Frame(parsing: [byte, 0, 0]) }
        }
        for kind in FrameKind.allCases where kind != .empty && kind != .message {
            #expect(throws: Frame.Refusal.malformed(kind)) { try Frame(parsing: [kind.rawValue]) }
        }
    }
}
