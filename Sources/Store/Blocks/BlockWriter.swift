import NearbyCore

/// Puts readings into blocks, and keeps a channel's blocks full: the block before them is rewritten
/// with them if it has room, or if its numbers overlap theirs.
struct BlockWriter {
    private let blocks: BlockTable

    init(_ blocks: BlockTable) { self.blocks = blocks }

    /// - Parameters:
    ///   - rows: of one channel, ascending in sequence, none of them in a block yet.
    ///   - least: how many of `rows` there must be for each added block, not counting the last;
    ///     with fewer, nothing is written.
    /// - Returns: whether they are written.
    func write(_ rows: [StoredRow], of run: Int64, least: Int = 1) throws(StoreError) -> Bool {
        guard let first = rows.first else { return true }
        var all = rows
        var before: BlockHeader?
        if let found = try block(before: first, of: run),
            found.byteCount < Limits.blockBytesFull
                || found.sequences.upperBound >= first.reading.sequence,
            let known = try blocks.rows(of: found, run: run)
        {
            all = known + rows
            before = found
        }
        let written = ReadingBlock.blocks(of: all)
        let added = written.count - (before == nil ? 0 : 1)
        // The last does not count: later readings fill it up.
        guard added - 1 <= rows.count / least else { return false }
        if let before { try blocks.delete(before.id) }
        for block in written { try blocks.insert(block, of: run) }
        return true
    }

    /// Of those that begin before this reading, the one that ends last.
    private func block(before row: StoredRow, of run: Int64) throws(StoreError) -> BlockHeader? {
        var found: BlockHeader?
        let times = 0..<row.reading.milliseconds.addingSaturating(1)
        try blocks.eachBackwards(
            of: run, channel: Int64(row.reading.channel), in: times
        ) {
            found = $0
            return false
        }
        return found
    }
}

extension Limits {
    /// A block of this many bytes is full: it is rewritten only for readings whose numbers come
    /// before its last.
    static let blockBytesFull = 3_600
}
