/// Finds frames of bytes in a stream: looks for a head, waits for the whole frame, checks it. After
/// anything else it looks again from the next byte on, so that a frame behind noise, or behind one
/// that lost a byte, is found.
struct FrameScanner: Sendable {
    enum Verdict: Equatable {
        /// So many bytes are a frame.
        case frame(Int)
        /// It may become one.
        case unfinished
        case noFrame
        /// A frame, but its checksum is wrong.
        case badChecksum
    }

    private(set) var losses = SerialLosses()
    private var buffer: [UInt8] = []
    private var hasFound = false

    /// The frames that the bytes complete. `judge` is asked about what lies at hand from a place
    /// on, at least one byte; it must come to an end with as many bytes as its longest frame has.
    mutating func feed(
        _ bytes: ArraySlice<UInt8>, _ judge: (ArraySlice<UInt8>) -> Verdict
    ) -> [ArraySlice<UInt8>] {
        buffer += bytes
        var frames: [ArraySlice<UInt8>] = []
        var rest = buffer[...]
        scan: while !rest.isEmpty {
            switch judge(rest) {
            case .frame(let count):
                frames.append(rest.prefix(count))
                rest = rest.dropFirst(max(1, count))
                hasFound = true
                losses.unparsedBytes = 0
            case .unfinished: break scan
            case .badChecksum:
                losses.badChecksums &+= 1
                rest = rest.dropFirst()
            case .noFrame:
                if hasFound { losses.strayBytes &+= 1 } else { losses.unparsedBytes &+= 1 }
                rest = rest.dropFirst()
            }
        }
        buffer = Array(rest)
        return frames
    }

    mutating func restart() {
        buffer = []
        hasFound = false
        losses.unparsedBytes = 0
    }
}

extension ArraySlice<UInt8> {
    /// The sum of all bytes, as far as it fits.
    var byteSum: UInt16 { reduce(0) { $0 &+ UInt16($1) } }
}
