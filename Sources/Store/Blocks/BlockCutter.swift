import NearbyCore

/// Deletes from blocks what is too old.
struct BlockCutter {
    private let blocks: BlockTable
    private let selectChannel: Statement
    private let selectOld: Statement

    init(_ database: Database, _ blocks: BlockTable) throws(StoreError) {
        self.blocks = blocks
        selectChannel = try database.prepare(
            """
            SELECT channel FROM blocks INDEXED BY blocks_by_begin
            WHERE run_id = ?1 AND channel > ?2 ORDER BY channel LIMIT 1
            """)
        selectOld = try database.prepare(
            """
            SELECT \(BlockTable.columns) FROM blocks INDEXED BY blocks_by_begin
            WHERE run_id = ?1 AND channel = ?2 AND first_milliseconds < ?3
            ORDER BY first_milliseconds
            """)
    }

    /// Whole blocks where it can; one at the edge is written anew without what goes. A damaged one
    /// goes with its beginning: it would otherwise remain its run's oldest, and a sweep gets no
    /// further than a day beyond that. Returns how many readings went.
    func delete(_ held: HeldCut, _ left: inout Int) throws(StoreError) -> Int {
        // No count of a header is higher than `Limits.blockSequencesMax`, so that sums are small.
        var deleted = 0
        var channel = Int64.min
        while left > 0, let next = try nextChannel(after: channel, of: held.cut.run) {
            channel = next
            for block in try old(held, channel, limit: left / Self.blockCost + 1) {
                switch block {
                case .legal(let header):
                    let count = try delete(held, header)
                    deleted += count
                    // What stays is only looked at.
                    left -= count == 0 ? 1 : Self.blockCost
                case .illegal(let id):
                    try blocks.delete(id)
                    left -= Self.blockCost
                }
            }
        }
        return deleted
    }

    private enum Block {
        case legal(BlockHeader)
        /// Its row is none that a store wrote: nobody can say how many readings it has.
        case illegal(Int64)
    }

    /// Rows of the table that a block counts as.
    private static let blockCost = 50

    private func nextChannel(after channel: Int64, of run: Int64) throws(StoreError) -> Int64? {
        selectChannel.bind(1, run).bind(2, channel)
        defer { selectChannel.reset() }
        return try selectChannel.step() ? selectChannel.integer(0) : nil
    }

    /// Blocks of which something goes, perhaps.
    private func old(
        _ held: HeldCut, _ channel: Int64, limit: Int
    ) throws(StoreError) -> [Block] {
        var old: [Block] = []
        selectOld.bind(1, held.cut.run).bind(2, channel).bind(3, held.cut.end)
        try blocks.eachRow(of: selectOld) { id, header throws(StoreError) in
            if let header {
                let isHeld =
                    header.sequences.lowerBound >= held.firstHeld
                    && header.milliseconds.lowerBound >= held.end
                if !isHeld { old.append(.legal(header)) }
            } else {
                old.append(.illegal(id))
            }
            return old.count < limit
        }
        return old
    }

    private func delete(_ held: HeldCut, _ header: BlockHeader) throws(StoreError) -> Int {
        let isWhole = held.deletes(
            header.milliseconds.upperBound, sequence: header.sequences.upperBound)
        if isWhole {
            try blocks.delete(header.id)
            return header.count
        }
        let run = held.cut.run
        guard let rows = try blocks.rows(of: header, run: run) else {
            let isBegun = held.deletes(
                header.milliseconds.lowerBound, sequence: header.sequences.lowerBound)
            guard isBegun else { return 0 }
            try blocks.delete(header.id)
            return header.count
        }
        let kept = rows.filter {
            !held.deletes($0.reading.milliseconds, sequence: $0.reading.sequence)
        }
        guard kept.count < rows.count else { return 0 }
        try blocks.delete(header.id)
        for block in ReadingBlock.blocks(of: kept) { try blocks.insert(block, of: run) }
        return rows.count - kept.count
    }
}

extension HeldCut {
    /// As the statement says that deletes rows.
    fileprivate func deletes(_ milliseconds: Int64, sequence: Int64) -> Bool {
        milliseconds < cut.end && (sequence < firstHeld || milliseconds < end)
    }
}
