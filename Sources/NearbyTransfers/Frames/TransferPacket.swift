import NearbyCore
import NearbyWire

/// One message of the node that carries streams and resources.
///
///     0x30 | flags 1 | number varint | frames …
///
/// Flag 1: it went at bulk priority. Flag 2: it has no number, since it only acknowledges and wants
/// no acknowledgement itself. Other flags are refused: what follows could not be read.
public struct TransferPacket: Hashable, Sendable {
    public var lane: TransferLane
    /// Counts the packets of a lane from 0; a number is never used again.
    public var number: UInt64?
    public var frames: [TransferFrame]

    public static let tag: UInt8 = 0x30

    public init(lane: TransferLane, number: UInt64?, frames: [TransferFrame]) {
        self.lane = lane
        self.number = number
        self.frames = frames
    }

    public init(parsing bytes: [UInt8]) throws(WireError) {
        var reader = ByteReader(bytes)
        let tag = try reader.readUInt8()
        guard tag == Self.tag else { throw .unknownType(tag) }
        let flags = try reader.readUInt8()
        guard flags & ~3 == 0 else { throw .invalid(field: "flags") }
        lane = flags & 1 == 1 ? .bulk : .reliable
        if flags & 2 == 0 {
            let number = try reader.readVarint()
            guard number < Limits.transferOffsetEnd else { throw .invalid(field: "number") }
            self.number = number
        }
        frames = []
        while reader.remainingCount > 0 { frames.append(try TransferFrame(from: &reader)) }
        guard !frames.isEmpty else { throw .truncated(needed: 1, available: 0) }
    }

    static func emitHead(
        lane: TransferLane, number: UInt64?, into writer: inout ByteWriter
    ) {
        writer.write(tag)
        writer.write((lane == .bulk ? 1 : 0) | (number == nil ? 2 : 0) as UInt8)
        if let number { writer.writeVarint(number) }
    }

    public var bytes: [UInt8] {
        var writer = ByteWriter(reserving: Limits.messageBytesMax)
        Self.emitHead(lane: lane, number: number, into: &writer)
        for frame in frames { frame.emit(into: &writer) }
        return writer.bytes
    }
}

/// Packets of one priority: they stay in sequence among themselves unless the network reorders.
public enum TransferLane: UInt8, CaseIterable, Sendable {
    /// Streams, and what is said about streams and resources.
    case reliable = 0
    /// Resources.
    case bulk = 1

    public var priority: Priority { self == .bulk ? .bulk : .reliable }
}
