import NearbyCore

/// Cuts a stream of bytes into lines, which end with a line feed, a carriage return or both. Empty
/// ones are passed over; of one that is too long nothing is kept.
struct LineSplitter: Sendable {
    private(set) var longLines = 0
    private var line: [UInt8] = []
    private var isInsideLongLine = false

    /// The lines that the bytes end.
    mutating func feed(_ bytes: ArraySlice<UInt8>) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        for byte in bytes {
            if byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") {
                if !line.isEmpty { lines.append(line) }
                line.removeAll(keepingCapacity: true)
                isInsideLongLine = false
            } else if line.count < Limits.serialLineBytesMax, !isInsideLongLine {
                line.append(byte)
            } else if !isInsideLongLine {
                isInsideLongLine = true
                longLines &+= 1
                line.removeAll()
            }
        }
        return lines
    }

    mutating func restart() {
        line = []
        isInsideLongLine = false
    }
}
