import NearbyCore
import NearbyWire

/// What one packet tells; a packet holds one or several.
///
///     ping               0x01
///     acknowledgement    0x02 of reliable packets, 0x03 of bulk packets: see `PacketAcknowledgement`
///     open               0x04 | number varint | group 2 | name counted, ≤ 255
///     offer              0x05 | number varint | group 2 | byte count varint | key 16 | name counted, ≤ 255
///     data               0x06 | body varint | offset varint | length varint | bytes
///     data, the last     0x07 | body varint | offset varint | length varint | bytes
///     reset              0x08 | body varint | reason 1 | final size varint
///     stop               0x09 | body varint | reason 1
///     limit              0x0a | body varint | offset varint
///     limit of all       0x0b | kind 1 | bytes varint
///     limit of numbers   0x0c | kind 1 | number varint
///     accept             0x0d | number varint | offset varint | limit varint
///     digest             0x0e | number varint | SHA-256 32
///     verified           0x0f | number varint
///
/// A number counts one side's streams, or its resources, from 0. A body is twice the number, and
/// one more for a resource. `open`, `offer`, `data`, `reset` and `digest` come from the side that
/// writes, the others from the side that reads. Numbers and offsets are below 2⁶². Unknown types
/// throw `.unknownType`: their length cannot be told.
public enum TransferFrame: Hashable, Sendable {
    case ping
    case acknowledgement(PacketAcknowledgement)
    case open(number: UInt64, group: UInt16, name: String)
    case offer(number: UInt64, ResourceOffer)
    case data(Body, offset: UInt64, ArraySlice<UInt8>, isLast: Bool)
    /// Nothing follows; `finalSize` bytes are counted against the limits.
    case reset(Body, TransferEnd, finalSize: UInt64)
    /// The reader wants no more; the writer answers with `reset`.
    case stop(Body, TransferEnd)
    /// The offset that the writer must not send beyond.
    case limit(Body, UInt64)
    /// The same for all bodies of a kind: how many bytes from the first one's beginning.
    case limitOfAll(Body.Kind, UInt64)
    /// Numbers below may be begun.
    case limitOfNumbers(Body.Kind, UInt64)
    case accept(number: UInt64, offset: UInt64, limit: UInt64)
    case digest(number: UInt64, [UInt8])
    case verified(number: UInt64)

    /// One stream or resource on the wire.
    public struct Body: Hashable, Sendable {
        public enum Kind: UInt8, Sendable { case stream = 0, resource = 1 }

        public var kind: Kind
        public var number: UInt64

        public init(_ kind: Kind, _ number: UInt64) {
            self.kind = kind
            self.number = number
        }
    }

    init(from reader: inout ByteReader) throws(WireError) {
        let tag = try reader.readUInt8()
        switch Tag(rawValue: tag) {
        case .ping: self = .ping
        case .acknowledgedReliable:
            self = .acknowledgement(try PacketAcknowledgement(of: .reliable, from: &reader))
        case .acknowledgedBulk:
            self = .acknowledgement(try PacketAcknowledgement(of: .bulk, from: &reader))
        case .open:
            let number = try reader.readNumber("stream")
            let group = try reader.readUInt16()
            self = .open(number: number, group: group, name: try reader.readName())
        case .offer:
            let number = try reader.readNumber("resource")
            self = .offer(number: number, try ResourceOffer(from: &reader))
        case .data: self = try Self.data(from: &reader, isLast: false)
        case .lastData: self = try Self.data(from: &reader, isLast: true)
        case .reset:
            let body = try Body(from: &reader)
            let reason = TransferEnd(rawValue: try reader.readUInt8()) ?? .cancelled
            self = .reset(body, reason, finalSize: try reader.readNumber("final size"))
        case .stop:
            let body = try Body(from: &reader)
            self = .stop(body, TransferEnd(rawValue: try reader.readUInt8()) ?? .cancelled)
        case .limit, .limitOfAll, .limitOfNumbers, .accept, .digest, .verified:
            self = try Self.fromReader(Tag(rawValue: tag), &reader)
        case nil: throw .unknownType(tag)
        }
    }

    /// What a side says of the peer's streams and resources, and the hash.
    private static func fromReader(
        _ tag: Tag?, _ reader: inout ByteReader
    ) throws(WireError) -> TransferFrame {
        switch tag {
        case .limit:
            let body = try Body(from: &reader)
            return .limit(body, try reader.readNumber("limit"))
        case .limitOfAll:
            return .limitOfAll(try Body.Kind(from: &reader), try reader.readNumber("limit"))
        case .limitOfNumbers:
            return .limitOfNumbers(try Body.Kind(from: &reader), try reader.readNumber("limit"))
        case .accept:
            let number = try reader.readNumber("resource")
            let offset = try reader.readNumber("offset")
            return .accept(number: number, offset: offset, limit: try reader.readNumber("limit"))
        case .digest:
            let number = try reader.readNumber("resource")
            return .digest(number: number, Array(try reader.readBytes(Limits.sha256ByteCount)))
        default: return .verified(number: try reader.readNumber("resource"))
        }
    }

    private static func data(
        from reader: inout ByteReader, isLast: Bool
    ) throws(WireError) -> TransferFrame {
        let body = try Body(from: &reader)
        let offset = try reader.readNumber("offset")
        let bytes = try reader.readCountedBytes(limit: Limits.messageBytesMax)
        return .data(body, offset: offset, bytes, isLast: isLast)
    }
}

extension TransferFrame {
    /// What `data` adds to the bytes that it carries, at most.
    static func dataOverhead(_ body: Body, offset: UInt64) -> Int {
        3 + ByteWriter.varintByteCount(body.code) + ByteWriter.varintByteCount(offset)
    }

    /// Everything of `data` but the bytes.
    static func emitDataHead(
        _ body: Body, offset: UInt64, count: Int, isLast: Bool, into writer: inout ByteWriter
    ) {
        writer.write((isLast ? Tag.lastData : .data).rawValue)
        writer.writeVarint(body.code)
        writer.writeVarint(offset)
        writer.writeVarint(UInt64(count))
    }

    public func emit(into writer: inout ByteWriter) {
        switch self {
        case .ping: writer.write(Tag.ping.rawValue)
        case .acknowledgement(let frame):
            let tag: Tag = frame.lane == .bulk ? .acknowledgedBulk : .acknowledgedReliable
            writer.write(tag.rawValue)
            frame.emit(into: &writer)
        case .open(let number, let group, let name):
            writer.write(Tag.open.rawValue)
            writer.writeVarint(number)
            writer.write(group)
            writer.writeString(name)
        case .offer(let number, let offer):
            writer.write(Tag.offer.rawValue)
            writer.writeVarint(number)
            offer.emit(into: &writer)
        case .data(let body, let offset, let bytes, let isLast):
            Self.emitDataHead(
                body, offset: offset, count: bytes.count, isLast: isLast, into: &writer)
            writer.write(contentsOf: bytes)
        case .reset(let body, let reason, let finalSize):
            writer.write(Tag.reset.rawValue)
            writer.writeVarint(body.code)
            writer.write(reason.rawValue)
            writer.writeVarint(finalSize)
        case .stop(let body, let reason):
            writer.write(Tag.stop.rawValue)
            writer.writeVarint(body.code)
            writer.write(reason.rawValue)
        case .limit, .limitOfAll, .limitOfNumbers, .accept, .digest, .verified:
            emitReaders(into: &writer)
        }
    }

    private func emitReaders(into writer: inout ByteWriter) {
        switch self {
        case .limit(let body, let offset):
            writer.write(Tag.limit.rawValue)
            writer.writeVarint(body.code)
            writer.writeVarint(offset)
        case .limitOfAll(let kind, let count):
            writer.write(Tag.limitOfAll.rawValue)
            writer.write(kind.rawValue)
            writer.writeVarint(count)
        case .limitOfNumbers(let kind, let number):
            writer.write(Tag.limitOfNumbers.rawValue)
            writer.write(kind.rawValue)
            writer.writeVarint(number)
        case .accept(let number, let offset, let limit):
            writer.write(Tag.accept.rawValue)
            writer.writeVarint(number)
            writer.writeVarint(offset)
            writer.writeVarint(limit)
        case .digest(let number, let hash):
            writer.write(Tag.digest.rawValue)
            writer.writeVarint(number)
            writer.write(contentsOf: hash)
        case .verified(let number):
            writer.write(Tag.verified.rawValue)
            writer.writeVarint(number)
        case .ping, .acknowledgement, .open, .offer, .data, .reset, .stop: break
        }
    }

    private enum Tag: UInt8 {
        case ping = 0x01
        case acknowledgedReliable = 0x02
        case acknowledgedBulk = 0x03
        case open = 0x04
        case offer = 0x05
        case data = 0x06
        case lastData = 0x07
        case reset = 0x08
        case stop = 0x09
        case limit = 0x0a
        case limitOfAll = 0x0b
        case limitOfNumbers = 0x0c
        case accept = 0x0d
        case digest = 0x0e
        case verified = 0x0f
    }
}

extension TransferFrame.Body {
    init(from reader: inout ByteReader) throws(WireError) {
        let code = try reader.readVarint()
        number = code >> 1
        kind = code & 1 == 1 ? .resource : .stream
        guard number < Limits.transferOffsetEnd else { throw .invalid(field: "body") }
    }

    var code: UInt64 { number << 1 | UInt64(kind.rawValue) }
}

extension TransferFrame.Body.Kind {
    init(from reader: inout ByteReader) throws(WireError) {
        guard let kind = Self(rawValue: try reader.readUInt8()) else {
            throw .invalid(field: "kind")
        }
        self = kind
    }
}

extension ResourceOffer {
    init(from reader: inout ByteReader) throws(WireError) {
        group = try reader.readUInt16()
        byteCount = Int64(try reader.readNumber("byte count"))
        key = Array(try reader.readBytes(Limits.resourceKeyByteCount))
        name = try reader.readName()
    }

    func emit(into writer: inout ByteWriter) {
        writer.write(group)
        writer.writeVarint(UInt64(byteCount))
        writer.write(contentsOf: key)
        writer.writeString(name)
    }
}

extension ByteReader {
    /// A varint below 2⁶².
    fileprivate mutating func readNumber(_ field: String) throws(WireError) -> UInt64 {
        let number = try readVarint()
        guard number < Limits.transferOffsetEnd else { throw .invalid(field: field) }
        return number
    }

    fileprivate mutating func readName() throws(WireError) -> String {
        try readString(limit: Limits.transferNameBytesMax, field: "name")
    }
}
