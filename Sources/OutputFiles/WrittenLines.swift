/// Lines that a file ends with, so that they are not written once more after a crash: what was
/// delivered last may come again.
struct WrittenLines {
    /// What is remembered of a file's end.
    static let byteCountMax = 32 << 20
    /// Batches without a known line, after which all is forgotten.
    static let patience = 100

    private var hashes: Set<Int> = []
    private var strangeBatchCount = 0

    /// Learns the lines in these bytes, the first of which may be cut off.
    mutating func learn(_ bytes: ArraySlice<UInt8>) {
        for line in bytes.split(separator: UInt8(ascii: "\n")) { hashes.insert(Self.hash(line)) }
    }

    /// The lines of a batch that are not there yet; each ends with a newline.
    mutating func new(of lines: [[UInt8]]) -> [[UInt8]] {
        if hashes.isEmpty { return lines }
        let new = lines.filter { !hashes.contains(Self.hash($0.dropLast())) }
        strangeBatchCount = new.count == lines.count ? strangeBatchCount + 1 : 0
        if strangeBatchCount >= Self.patience { hashes = [] }
        return new
    }

    private static func hash(_ line: ArraySlice<UInt8>) -> Int {
        var hasher = Hasher()
        line.withUnsafeBytes { hasher.combine(bytes: $0) }
        return hasher.finalize()
    }
}
