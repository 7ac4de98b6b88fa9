import NearbyCore

/// The first byte of every message of the telemetry side.
public enum TelemetryTag: UInt8, CaseIterable, Sendable {
    case birth = 1
    case report = 2
    case birthRequest = 3
    case receipt = 4
    case timeExchange = 5
    case gap = 6
}

/// A message between agent and collector. What each field means stands with the types.
///
///     birth request: 0x03 · run 4 · birth number varint (as in the report that could not be read) ·
///     trailing fields
///
/// Unknown tags throw `.unknownType`: the receiver counts the message and goes on.
public enum TelemetryMessage: Equatable, Sendable {
    case birth(Birth)
    case report(Report)
    case birthRequest(BirthReference)
    case receipt(Receipt)
    case timeExchange(TimeExchange)
    case gap(Gap)

    /// Parses one whole message. `skippedFields` grows by the fields of later versions that were
    /// passed over.
    public init(parsing bytes: [UInt8], skippedFields: inout Int) throws(WireError) {
        var reader = ByteReader(bytes)
        let tag = try reader.readUInt8()
        switch TelemetryTag(rawValue: tag) {
        case .birth: self = .birth(try Birth(parsing: &reader, skippedFields: &skippedFields))
        case .report:
            // Reports travel as unreliable messages; one that came reliably may not be longer,
            // because collectors hold reports by number.
            guard bytes.count <= Limits.messageBytesMax else {
                throw .tooLong(limit: Limits.messageBytesMax, actual: bytes.count)
            }
            self = .report(try Report(parsing: &reader, skippedFields: &skippedFields))
        case .birthRequest:
            self = .birthRequest(try BirthReference(parsing: &reader))
            while try TrailingField(parsing: &reader) != nil { skippedFields += 1 }
        case .receipt: self = .receipt(try Receipt(parsing: &reader, skippedFields: &skippedFields))
        case .timeExchange:
            self = .timeExchange(
                try TimeExchange(parsing: &reader, skippedFields: &skippedFields))
        case .gap: self = .gap(try Gap(parsing: &reader, skippedFields: &skippedFields))
        case nil: throw .unknownType(tag)
        }
    }

    public init(parsing bytes: [UInt8]) throws(WireError) {
        var skipped = 0
        try self.init(parsing: bytes, skippedFields: &skipped)
    }

    public var bytes: [UInt8] {
        var writer = ByteWriter(reserving: 128)
        switch self {
        case .birth(let birth):
            writer.write(TelemetryTag.birth.rawValue)
            birth.emit(into: &writer)
        case .report(let report): return report.bytes
        case .birthRequest(let reference):
            writer.write(TelemetryTag.birthRequest.rawValue)
            reference.emit(into: &writer)
        case .receipt(let receipt):
            writer.write(TelemetryTag.receipt.rawValue)
            receipt.emit(into: &writer)
        case .timeExchange(let exchange):
            writer.write(TelemetryTag.timeExchange.rawValue)
            exchange.emit(into: &writer)
        case .gap(let gap):
            writer.write(TelemetryTag.gap.rawValue)
            gap.emit(into: &writer)
        }
        return writer.bytes
    }
}
