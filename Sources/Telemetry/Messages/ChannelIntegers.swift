/// The last integer of each channel in a report. Channels are numbered from 1 up and are few: those
/// have an array, as a dictionary would be grown and hashed for each report; what lies beyond has
/// one.
struct ChannelIntegers {
    static let arrayCountMax = 128

    private var low: [Int64?] = []
    private var high: [UInt16: Int64] = [:]

    /// Nil for a channel that had none yet.
    subscript(channel: UInt16) -> Int64? {
        let index = Int(channel)
        if index < low.count { return low[index] }
        return index < Self.arrayCountMax ? nil : high[channel]
    }

    mutating func set(_ integer: Int64, of channel: UInt16) {
        let index = Int(channel)
        guard index < Self.arrayCountMax else { return high[channel] = integer }
        if index >= low.count { grow(toHold: index) }
        low[index] = integer
    }

    private mutating func grow(toHold index: Int) {
        var count = max(low.count, 16)
        while count <= index { count *= 2 }
        low.reserveCapacity(count)
        while low.count < count { low.append(nil) }
    }
}
