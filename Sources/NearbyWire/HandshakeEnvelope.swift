import NearbyCore

/// Handshake records between peers travel in an envelope, so that both directions may cross on one
/// pair of addresses and be told apart.
///
///     type 0x50 (1) | flags (1) | attempt (4) | [introduction (26)] | DTLS records …
///     introduction = PeerID (16) | run id (8) | attempt number (2)
///
/// Flags: bit 0, sent by the server; bit 1, an introduction follows. The attempt is a random number
/// of the client's. The introduction is unproved: a hint for the tie-break. Bare records (no
/// envelope) are answered bare: `openssl s_client` completes a handshake.
public struct HandshakeEnvelope: Equatable, Sendable {
    public struct Introduction: Equatable, Sendable {
        public var peer: PeerID
        public var run: RunID
        public var attempt: UInt16

        public init(peer: PeerID, run: RunID, attempt: UInt16) {
            self.peer = peer
            self.run = run
            self.attempt = attempt
        }
    }

    public static let type: UInt8 = 0x50
    /// Envelope with introduction, bytes.
    public static let overheadByteCount = 32

    public var isFromServer: Bool
    public var attempt: UInt32
    public var introduction: Introduction?
    public var records: ArraySlice<UInt8>

    public init(
        isFromServer: Bool, attempt: UInt32, introduction: Introduction?, records: ArraySlice<UInt8>
    ) {
        self.isFromServer = isFromServer
        self.attempt = attempt
        self.introduction = introduction
        self.records = records
    }

    public init(parsing bytes: ArraySlice<UInt8>) throws(WireError) {
        var reader = ByteReader(bytes)
        let type = try reader.readUInt8()
        guard type == Self.type else { throw .unknownType(type) }
        let flags = try reader.readUInt8()
        guard flags & 0b1111_1100 == 0 else { throw .invalid(field: "envelope flags") }
        isFromServer = flags & 1 != 0
        attempt = try reader.readUInt32()
        if flags & 2 != 0 {
            introduction = Introduction(
                peer: try reader.readPeerID(), run: RunID(value: try reader.readUInt64()),
                attempt: try reader.readUInt16())
        }
        guard reader.remainingCount > 0 else { throw .truncated(needed: 1, available: 0) }
        records = reader.readRemaining()
    }

    public func emit(into writer: inout ByteWriter) {
        writer.write(Self.type)
        writer.write((isFromServer ? 1 : 0) | (introduction == nil ? 0 : 2) as UInt8)
        writer.write(attempt)
        if let introduction {
            writer.write(introduction.peer)
            writer.write(introduction.run.value)
            writer.write(introduction.attempt)
        }
        writer.write(contentsOf: records)
    }

    public var bytes: [UInt8] {
        var writer = ByteWriter(reserving: records.count + Self.overheadByteCount)
        emit(into: &writer)
        return writer.bytes
    }
}
