import NearbyCore
import NearbyWire

/// What sessions of two peers say to each other; each is one message of the node, reliable but for
/// data that are not.
///
///     invite     0x20 | invitation 4 | session 8 | preference 1 | timeout in ms varint | context counted, ≤ 16384
///     answer     0x21 | invitation 4 | verdict 1 | session 8
///     cancel     0x22 | invitation 4
///     connect    0x23 | from 8 | to 8 | number 2 | preference 1 | flags 1 | certificates: count 1, each counted | proof counted
///     ready      0x24 | from 8 | to 8
///     end        0x25 | from 8 | to 8 | reason 1
///     members    0x26 | from 8 | to 8 | count 1 | each: peer 16, session 8
///     data       0x27 | number 2 | bytes
///     part       0x28 | number 2 | bytes
///     hold       0x29 | number 2 | 1: keep reliable data back, 0: go on
///
/// A program's message that is longer than one of the node comes as parts, of which the last is
/// `data`. `hold` says that a program takes messages more slowly than they come. Later fields may
/// follow all but data and parts and are skipped. Unknown tags throw `.unknownType`.
public enum GroupMessage: Hashable, Sendable {
    case invite(GroupInvite)
    case answer(invitation: UInt32, GroupAnswer)
    case cancel(invitation: UInt32)
    case connect(GroupConnect)
    case ready(SessionPair)
    case end(SessionPair, GroupEnd)
    case members(SessionPair, [GroupMember])
    /// `number` is the receiver's, from its `connect`.
    case data(number: UInt16, ArraySlice<UInt8>)
    /// The beginning of data that go on in the next reliable message.
    case part(number: UInt16, ArraySlice<UInt8>)
    /// Whether data for the sender's session are to wait.
    case hold(number: UInt16, Bool)

    public init(parsing bytes: [UInt8]) throws(WireError) {
        var reader = ByteReader(bytes)
        let tag = try reader.readUInt8()
        switch Tag(rawValue: tag) {
        case .invite: self = .invite(try GroupInvite(from: &reader))
        case .answer:
            let invitation = try reader.readUInt32()
            self = .answer(invitation: invitation, try GroupAnswer(from: &reader))
        case .cancel: self = .cancel(invitation: try reader.readUInt32())
        case .connect: self = .connect(try GroupConnect(from: &reader))
        case .ready: self = .ready(try SessionPair(from: &reader))
        case .end:
            let pair = try SessionPair(from: &reader)
            self = .end(pair, GroupEnd(rawValue: try reader.readUInt8()) ?? .left)
        case .members:
            let pair = try SessionPair(from: &reader)
            self = .members(pair, try Self.members(from: &reader))
        case .data:
            let number = try reader.readUInt16()
            self = .data(number: number, reader.readRemaining())
        case .part:
            let number = try reader.readUInt16()
            self = .part(number: number, reader.readRemaining())
        case .hold:
            let number = try reader.readUInt16()
            self = .hold(number: number, try reader.readUInt8() != 0)
        case nil: throw .unknownType(tag)
        }
    }

    public var bytes: [UInt8] {
        var writer = ByteWriter(reserving: 64)
        switch self {
        case .invite(let invite):
            writer.write(Tag.invite.rawValue)
            invite.emit(into: &writer)
        case .answer(let invitation, let answer):
            writer.write(Tag.answer.rawValue)
            writer.write(invitation)
            answer.emit(into: &writer)
        case .cancel(let invitation):
            writer.write(Tag.cancel.rawValue)
            writer.write(invitation)
        case .connect(let connect):
            writer.write(Tag.connect.rawValue)
            connect.emit(into: &writer)
        case .ready(let pair):
            writer.write(Tag.ready.rawValue)
            pair.emit(into: &writer)
        case .end(let pair, let reason):
            writer.write(Tag.end.rawValue)
            pair.emit(into: &writer)
            writer.write(reason.rawValue)
        case .members(let pair, let members):
            writer.write(Tag.members.rawValue)
            pair.emit(into: &writer)
            writer.write(UInt8(clamping: members.count))
            for member in members.prefix(Int(UInt8.max)) {
                writer.write(member.peer)
                writer.write(member.session.value)
            }
        case .data(let number, let data):
            writer.write(Tag.data.rawValue)
            writer.write(number)
            writer.write(contentsOf: data)
        case .part(let number, let data):
            writer.write(Tag.part.rawValue)
            writer.write(number)
            writer.write(contentsOf: data)
        case .hold(let number, let isHeld):
            writer.write(Tag.hold.rawValue)
            writer.write(number)
            writer.write((isHeld ? 1 : 0) as UInt8)
        }
        return writer.bytes
    }

    /// A program's reliable message: as one, or as parts.
    static func parts(of data: [UInt8], _ number: UInt16) -> [GroupMessage] {
        var messages: [GroupMessage] = []
        var rest = data[...]
        while rest.count > Limits.groupPartBytesMax {
            messages.append(.part(number: number, rest.prefix(Limits.groupPartBytesMax)))
            rest = rest.dropFirst(Limits.groupPartBytesMax)
        }
        return messages + [.data(number: number, rest)]
    }

    /// Bytes that `data` adds to what a program sends.
    public static let dataOverhead = 3

    private enum Tag: UInt8 {
        case invite = 0x20
        case answer = 0x21
        case cancel = 0x22
        case connect = 0x23
        case ready = 0x24
        case end = 0x25
        case members = 0x26
        case data = 0x27
        case part = 0x28
        case hold = 0x29
    }

    private static func members(from reader: inout ByteReader) throws(WireError) -> [GroupMember] {
        let count = Int(try reader.readUInt8())
        guard count <= Limits.introductionsMax else {
            throw .tooLong(limit: Limits.introductionsMax, actual: count)
        }
        var members: [GroupMember] = []
        for _ in 0..<count {
            let peer = try reader.readPeerID()
            members.append(
                GroupMember(peer: peer, session: SessionID(value: try reader.readUInt64())))
        }
        return members
    }
}

/// A session of the sender, and the receiver's session that is meant.
public struct SessionPair: Hashable, Sendable {
    public var from: SessionID
    public var to: SessionID

    public init(from: SessionID, to: SessionID) {
        self.from = from
        self.to = to
    }

    /// As the other side writes it.
    var reversed: SessionPair { SessionPair(from: to, to: from) }

    init(from reader: inout ByteReader) throws(WireError) {
        from = SessionID(value: try reader.readUInt64())
        to = SessionID(value: try reader.readUInt64())
    }

    func emit(into writer: inout ByteWriter) {
        writer.write(from.value)
        writer.write(to.value)
    }
}

/// A member as others know it.
public struct GroupMember: Hashable, Sendable {
    public var peer: PeerID
    public var session: SessionID

    public init(peer: PeerID, session: SessionID) {
        self.peer = peer
        self.session = session
    }
}

/// Why two sessions are not connected, or not any more.
public enum GroupEnd: UInt8, CaseIterable, Sendable {
    case left = 0
    /// The receiver has no such session, or has it no more.
    case unknownSession = 1
    /// One requires encryption and the other refuses it.
    case preference = 2
    /// The certificates were refused.
    case certificate = 3
    case full = 4
    /// The peer is in the session already, with another one of its sessions.
    case alreadyMember = 5
    case timedOut = 6
    /// The peer was asked to connect too often in a short time.
    case busy = 7
}
