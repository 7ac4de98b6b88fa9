import NearbyCore

/// The beginnings of messages that came in parts, by the number that their data carry.
struct PartTable: Sendable {
    private var parts: [UInt16: [UInt8]] = [:]
    private var byteCount = 0

    /// - Returns: false if the message is longer than one may be, or there is no room.
    mutating func add(_ data: ArraySlice<UInt8>, to number: UInt16) -> Bool {
        guard (parts[number]?.count ?? 0) + data.count <= Limits.groupMessageBytesMax,
            byteCount + data.count <= Limits.groupPartsBytesMax
        else { return false }
        parts[number, default: []] += data
        byteCount += data.count
        return true
    }

    /// The message of which this is the end.
    mutating func take(_ number: UInt16, endingWith data: [UInt8]) -> [UInt8] {
        guard let beginning = parts.removeValue(forKey: number) else { return data }
        byteCount -= beginning.count
        return beginning + data
    }

    mutating func forget(_ number: UInt16) {
        byteCount -= parts.removeValue(forKey: number)?.count ?? 0
    }
}
