import NearbyCore
import NearbyWire

/// Asks a peer to join a session with one of its own.
public struct GroupInvite: Hashable, Sendable {
    /// The sender's number for it.
    public var number: UInt32
    public var session: SessionID
    public var preference: EncryptionPreference
    /// How long the sender waits: 1 ms to an hour.
    public var timeout: Duration
    /// For the program that is asked: at most 16 KiB.
    public var context: [UInt8]

    public init(
        number: UInt32, session: SessionID, preference: EncryptionPreference, timeout: Duration,
        context: [UInt8]
    ) {
        self.number = number
        self.session = session
        self.preference = preference
        self.timeout = timeout
        self.context = context
    }

    init(from reader: inout ByteReader) throws(WireError) {
        number = try reader.readUInt32()
        session = SessionID(value: try reader.readUInt64())
        preference = try EncryptionPreference(from: &reader)
        let milliseconds = try reader.readVarint()
        let longest = UInt64(clamping: Limits.invitationTimeMax.milliseconds)
        guard (1...longest).contains(milliseconds) else { throw .invalid(field: "timeout") }
        timeout = .milliseconds(Int64(milliseconds))
        context = Array(try reader.readCountedBytes(limit: Limits.contextBytesMax))
    }

    func emit(into writer: inout ByteWriter) {
        writer.write(number)
        writer.write(session.value)
        writer.write(preference.rawValue)
        writer.writeVarint(UInt64(clamping: timeout.milliseconds))
        writer.writeCounted(context)
    }
}

/// What an invitation comes to.
public enum GroupAnswer: Hashable, Sendable {
    /// With this session of the sender's.
    case accepted(SessionID)
    case declined
    /// Whatever the program said, the two cannot be connected.
    case refused(GroupEnd)

    /// 0: accepted; 1: declined; above: refused, with the reason less 16.
    init(from reader: inout ByteReader) throws(WireError) {
        let verdict = try reader.readUInt8()
        let session = SessionID(value: try reader.readUInt64())
        switch verdict {
        case 0: self = .accepted(session)
        case 1: self = .declined
        default: self = .refused(GroupEnd(rawValue: verdict &- 16) ?? .unknownSession)
        }
    }

    func emit(into writer: inout ByteWriter) {
        switch self {
        case .accepted(let session):
            writer.write(UInt8(0))
            writer.write(session.value)
        case .declined:
            writer.write(UInt8(1))
            writer.write(UInt64(0))
        case .refused(let reason):
            writer.write(reason.rawValue + 16)
            writer.write(UInt64(0))
        }
    }
}

extension EncryptionPreference {
    init(from reader: inout ByteReader) throws(WireError) {
        guard let preference = EncryptionPreference(rawValue: try reader.readUInt8()) else {
            throw .invalid(field: "preference")
        }
        self = preference
    }
}
