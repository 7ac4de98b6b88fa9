import NearbyCore
import NearbyWire
import Testing
import VectorFile

private let first = PeerID(high: 0x0102_0304_0506_0708, low: 0x090a_0b0c_0d0e_0f10)
private let second = PeerID(high: 0x1112_1314_1516_1718, low: 0x191a_1b1c_1d1e_1f20)

struct RoutingMessageTests {
    private let message = RoutingMessage(
        number: 133, acknowledged: 7,
        items: [
            .update(.init(destination: first, seqno: 0x102, metric: 352, kind: .collector)),
            .request(destination: second, seqno: 9, hopLimit: 64), .known(seqno: 0xdead_beef),
            .update(
                .init(
                    destination: second, seqno: 8, metric: RoutingMessage.metricInfinite,
                    kind: .node)),
            .update(.init(destination: first, seqno: 0x103, metric: 96, kind: .viewer)),
        ])

    /// A message that ends between two items is whole, so truncation is tested by itself.
    @Test func routingMessage() throws {
        try expectSound(
            vector: "routing-message", message, emit: \.bytes,
            parse: { try RoutingMessage(parsing: $0.dropFirst()) }, shortest: 3)
    }

    @Test func truncatedMessagesThrowOrLackWholeItems() throws {
        let golden = vector("routing-message")
        let ends = [4, 29, 52, 58, 83]
        for length in 4..<golden.count {
            let parsed = try? RoutingMessage(parsing: golden[1..<length])
            guard let count = ends.firstIndex(of: length) else {
                #expect(parsed == nil, "\(length) bytes")
                continue
            }
            #expect(parsed?.items == Array(message.items.prefix(count)), "\(length) bytes")
        }
    }

    @Test func itemsOfUnknownTagsAreSkippedAndCounted() throws {
        let bytes: [UInt8] = [1, 0, 0x63, 2, 0xff, 0xff, 3, 4, 0, 0, 0, 5, 0x63, 0]
        let parsed = try RoutingMessage(parsing: bytes[...])
        #expect(parsed.items == [.known(seqno: 5)])
        #expect(parsed.unknownCount == 2)
    }

    @Test func knownItemsMayGrow() throws {
        let bytes: [UInt8] = [1, 0, 3, 6, 0, 0, 0, 5, 0xaa, 0xbb]
        #expect(try RoutingMessage(parsing: bytes[...]).items == [.known(seqno: 5)])
    }

    @Test(
        arguments: [
            (0, .node), (1, .collector), (2, .viewer), (3, .collector), (0xfc, .node),
            (0xfe, .viewer),
        ] as [(UInt8, DestinationKind)])
    func flagsOfLaterVersionsAreIgnored(flags: UInt8, kind: DestinationKind) throws {
        let golden = vector("routing-message")
        let parsed = try RoutingMessage(parsing: golden[1..<28] + [flags])
        let update = RoutingMessage.RouteUpdate(
            destination: first, seqno: 0x102, metric: 352, kind: kind)
        #expect(parsed.items == [.update(update)])
    }

    @Test func numbersBeyond32BitsAreRefused() {
        let bytes: [UInt8] = [0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 0]
        #expect(throws: WireError.invalid(field: "message number")) {
            try RoutingMessage(parsing: bytes[...])
        }
    }

    @Test func randomBytesNeverTrap() {
        var random = SeededGenerator(seed: 11)
        for _ in 0..<20_000 {
            let count = Int.random(in: 0...80, using: &random)
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...8, using: &random) }
            if let parsed = try? RoutingMessage(parsing: bytes[...]) { _ = parsed.bytes }
        }
    }

    @Test func liveness() throws {
        try expectSound(
            vector: "liveness", LivenessFrame.probe, emit: \.bytes,
            parse: { try LivenessFrame(parsing: $0.dropFirst()) })
        for frame in LivenessFrame.allCases {
            #expect(try LivenessFrame(parsing: frame.bytes[1...]) == frame)
        }
    }
}
