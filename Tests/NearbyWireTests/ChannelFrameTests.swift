import NearbyCore
import NearbyWire
import Testing

private let peer = PeerID(high: 0x0102_0304_0506_0708, low: 0x090a_0b0c_0d0e_0f10)

struct ChannelFrameTests {
    @Test func sealedHeader() throws {
        let header = SealedHeader(
            priority: .reliable, isPlaintext: true, index: 0xdead_beef, counter: 0x01_0203_0405)
        let tag = [UInt8](repeating: 0xaa, count: 17)
        try expectSound(
            vector: "sealed-header", header,
            emit: {
                var writer = ByteWriter()
                $0.emit(into: &writer)
                return writer.bytes + tag
            }, parse: { try SealedHeader(parsing: $0) })
        #expect(header.sequence == 2 << 40 | 0x01_0203_0405)
    }

    @Test(arguments: Priority.allCases, [false, true]) func thePriorityIsToldByTheFirstByte(
        _ priority: Priority, _ isPlaintext: Bool
    ) {
        let header = SealedHeader(
            priority: priority, isPlaintext: isPlaintext, index: 1, counter: 2)
        var writer = ByteWriter()
        header.emit(into: &writer)
        #expect(SealedHeader.priority(of: writer.bytes) == priority)
        #expect(SealedHeader.priority(of: [writer.bytes[0] ^ 0b1000_0000]) == nil)
        #expect(SealedHeader.priority(of: []) == nil)
    }

    @Test func handshakeEnvelope() throws {
        let envelope = HandshakeEnvelope(
            isFromServer: false, attempt: 0x1122_3344,
            introduction: .init(peer: peer, run: RunID(value: 0x2122_2324_2526_2728), attempt: 7),
            records: [0x16, 0xfe, 0xfd][...])
        // The records end the datagram: the envelope alone cannot tell that some are missing.
        try expectSound(
            vector: "handshake-envelope", envelope, emit: \.bytes,
            parse: { try HandshakeEnvelope(parsing: $0) }, shortest: 33)
    }

    @Test func admit() throws {
        let frame = AdmitFrame(
            versions: 1...2, role: .relay, preference: .required, hasRoute: true, neighbourCount: 3,
            run: RunID(value: 0x2122_2324_2526_2728), proof: Array(0..<32), name: "bench")
        try expectSound(
            vector: "admit", frame, emit: \.bytes,
            parse: { try AdmitFrame(parsing: $0.dropFirst()) })
    }

    /// The vector above is that of a version that says none; what is no version counts as none.
    @Test func admitSaysAVersionThatEarlierOnesSkip() throws {
        var frame = AdmitFrame(
            versions: 1...1, role: .agent, preference: .required, hasRoute: false,
            neighbourCount: 0, run: RunID(value: 1), proof: Array(0..<32), name: "bench")
        let before = frame.bytes
        frame.software = "0.1.0"
        let version: [UInt8] = [5] + Array("0.1.0".utf8)
        #expect(frame.bytes == before + version)
        #expect(try AdmitFrame(parsing: frame.bytes.dropFirst()) == frame)
        for later in [[0xff], [5, 0x30], [3, 0x30, 0x0a, 0x30], [200, 1, 2]] as [[UInt8]] {
            let parsed = try AdmitFrame(parsing: (before + later).dropFirst())
            #expect(parsed.software == "")
            #expect(parsed.name == "bench")
        }
    }

    @Test func invite() throws {
        let frame = InviteFrame(timeout: .seconds(30), context: [1, 2, 3])
        try expectSound(
            vector: "invite", frame, emit: \.bytes,
            parse: { try InviteFrame(parsing: $0.dropFirst()) })
    }

    @Test func decision() throws {
        let frame = DecisionFrame(verdict: .full, retryAfter: .seconds(60))
        try expectSound(
            vector: "decision", frame, emit: \.bytes,
            parse: { try DecisionFrame(parsing: $0.dropFirst()) })
    }

    @Test func close() throws {
        try expectSound(
            vector: "close", CloseFrame(reason: .replaced), emit: \.bytes,
            parse: { try CloseFrame(parsing: $0.dropFirst()) })
    }

    @Test func pathChallenge() throws {
        let frame = PathFrame(isResponse: false, token: 0x3132_3334_3536_3738)
        try expectSound(
            vector: "path-challenge", frame, emit: \.bytes,
            parse: { try PathFrame(parsing: $0.dropFirst(), isResponse: false) })
    }

    @Test func pathResponse() throws {
        let frame = PathFrame(isResponse: true, token: 0x3132_3334_3536_3738)
        try expectSound(
            vector: "path-response", frame, emit: \.bytes,
            parse: { try PathFrame(parsing: $0.dropFirst(), isResponse: true) })
    }

    @Test func unknownChannel() throws {
        try expectSound(
            vector: "unknown-channel", UnknownChannelHint(index: 0x0102_0304), emit: \.bytes,
            parse: UnknownChannelHint.init(parsing:))
    }

    @Test func laterFieldsAreSkipped() throws {
        let frame = InviteFrame(timeout: .seconds(1), context: [9])
        #expect(try InviteFrame(parsing: (frame.bytes + [1, 2, 3]).dropFirst()) == frame)
    }

    @Test(
        arguments: [
            (0x14, DatagramKind.record), (0x50, .handshake), (0x61, .discovery), (0xbf, .sealed),
            (0xc0, .unknown(0xc0)),
        ] as [(UInt8, DatagramKind)])
    func theFirstByteTellsTheKind(_ byte: UInt8, _ kind: DatagramKind) {
        #expect(DatagramKind(firstByte: byte) == kind)
    }

    @Test func preferencesAgreeAsInMultipeerConnectivity() {
        #expect(EncryptionPreference.agreed(.none, .required) == nil)
        #expect(EncryptionPreference.agreed(.required, .none) == nil)
        #expect(EncryptionPreference.agreed(.none, .optional) == false)
        #expect(EncryptionPreference.agreed(.none, .none) == false)
        #expect(EncryptionPreference.agreed(.optional, .optional) == true)
        #expect(EncryptionPreference.agreed(.required, .optional) == true)
    }

    @Test func theHighestCommonVersionIsSpoken() {
        #expect(WireVersion.agreed(1...3, 2...5) == 3)
        #expect(WireVersion.agreed(1...1, 2...3) == nil)
    }
}
