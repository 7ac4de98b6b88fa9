import NearbyCore
import NearbyWire
import Telemetry

@testable import NearbyAvahi
@testable import NearbyDTLS
@testable import NearbyLinux

extension FuzzTarget {
    /// Datagrams and what is in them.
    static let network: [FuzzTarget] = [
        FuzzTarget("beacon") { bytes in
            _ = DiscoveryFrame.signedPart(of: bytes[...])
            guard let frame = try? DiscoveryFrame(parsing: bytes[...]) else { return }
            let again = try? DiscoveryFrame(parsing: frame.bytes[...])
            precondition(again == frame, "a frame is not what it was")
        },
        FuzzTarget(
            "frames",
            oneOf: [
                { _ = try? SealedHeader(parsing: $0) },
                { _ = try? UnknownChannelHint(parsing: $0) },
                { sound($0, HandshakeEnvelope.init(parsing:)) { $0.emit(into: &$1) } },
                { _ = try? MeshPacket(parsing: $0) },
                { _ = try? RoutingMessage(parsing: $0) },
                { _ = try? LivenessFrame(parsing: $0) },
                { _ = try? FrameBundle(parsing: $0) },
                { _ = try? SegmentFrame(parsing: $0) },
                { _ = try? AcknowledgementFrame(parsing: $0) },
                { _ = try? AdmitFrame(parsing: $0) },
                { _ = try? InviteFrame(parsing: $0) },
                { _ = try? DecisionFrame(parsing: $0) },
                { _ = try? CloseFrame(parsing: $0) },
                { _ = try? PathFrame(parsing: $0, isResponse: false) },
                { _ = try? PathFrame(parsing: $0, isResponse: true) },
                { _ = try? DiscoveryInfo(parsing: $0) },
            ]),
        FuzzTarget(
            "echo",
            oneOf: [
                { sound($0, EchoRequest.init(parsing:)) { $1.write(contentsOf: $0.bytes) } },
                { sound($0, EchoAnswer.init(parsing:)) { $1.write(contentsOf: $0.bytes) } },
                { bytes in
                    guard let answer = try? EchoAnswer(parsing: bytes) else { return }
                    let count = EchoAnswer.overheadByteCount + Int(answer.token % 64)
                    let fitted = answer.fitted(to: count).bytes
                    precondition(fitted.count <= count, "an answer longer than its question")
                },
            ]),
        FuzzTarget("telemetry") { bytes in
            var skipped = 0
            _ = try? TelemetryMessage(parsing: bytes, skippedFields: &skipped)
        },
        FuzzTarget("dtls-records") { bytes in
            var filter = RecordFilter()
            for phase in [RecordFilter.Phase.handshake, .established] {
                let passed = filter.pass(bytes[...], in: phase)
                precondition(passed.count <= bytes.count, "more came out than went in")
            }
        },
        FuzzTarget("ticket") { bytes in
            let text = String(decoding: bytes, as: UTF8.self)
            guard let ticket = try? Ticket(text: text) else { return }
            let again = try? Ticket(text: ticket.text)
            precondition(again == ticket, "a ticket is not what it was")
        },
        FuzzTarget("avahi-record") { _ = try? ServiceRecord(parsing: $0[...]) },
        FuzzTarget("netlink") { bytes in
            for message in NetlinkMessage.all(in: bytes) { _ = message }
        },
    ]

    /// What was parsed is emitted and parsed again as the same.
    private static func sound<Message: Equatable>(
        _ bytes: ArraySlice<UInt8>, _ parse: (ArraySlice<UInt8>) throws -> Message,
        _ emit: (Message, inout ByteWriter) -> Void
    ) {
        guard let message = try? parse(bytes) else { return }
        var writer = ByteWriter()
        emit(message, &writer)
        let again = try? parse(writer.bytes[...])
        precondition(again == message, "a message is not what it was")
    }
}
