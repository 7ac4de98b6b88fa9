import NearbyCore

extension Report {
    /// A whole report message as it is kept in a file: it may be longer than one that is sent, and
    /// it has nothing in it that this version does not know.
    package init(parsingBlock bytes: ArraySlice<UInt8>) throws(WireError) {
        var reader = ByteReader(bytes)
        var skippedFields = 0
        let tag = try reader.readUInt8()
        guard tag == TelemetryTag.report.rawValue else { throw .unknownType(tag) }
        try self.init(parsing: &reader, skippedFields: &skippedFields)
        guard skippedFields == 0 else { throw .invalid(field: "extension") }
    }
}
