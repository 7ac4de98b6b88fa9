import Collector
import NearbyCore
import Telemetry

/// Writes the readings of a commit: each as a row of its own, or, where many of one channel come
/// together (from a sensor at 1 kHz, or from an agent that was away for long), straight into
/// blocks. That takes an eighth to a quarter of the time, and these readings need no packing later.
struct PartWriter {
    struct Written {
        /// What is new.
        var added: [ReadingRow] = []
        /// Readings that no legal report holds.
        var illegalCount = 0
    }

    private let readings: ReadingTable
    private let statements: CommitStatements
    private let writer: BlockWriter
    private let blockedAtOnce: Int

    init(_ readings: ReadingTable, _ statements: CommitStatements, blockedAtOnce: Int) {
        self.readings = readings
        self.statements = statements
        writer = BlockWriter(readings.blocks)
        self.blockedAtOnce = blockedAtOnce
    }

    /// What is in the store already is passed over; of two readings with one number the first
    /// counts.
    func write(_ part: StoreBatch.Part, of run: RunRow) throws(StoreError) -> Written {
        var written = Written()
        var rows: [ReadingRow] = []
        rows.reserveCapacity(part.readings.count)
        for reading in part.readings {
            guard let row = ReadingRow(reading) else {
                written.illegalCount += 1
                continue
            }
            rows.append(row)
        }
        if rows.count >= blockedAtOnce { rows = try block(rows, part, of: run, &written) }
        let packed = try packed(rows, of: run.id)
        for row in rows where !packed.contains(row.sequence) {
            if try statements.insert(row, run: run, hops: part.hops) { written.added.append(row) }
        }
        return written
    }

    /// Writes the channels of which there are many into blocks, and returns the other readings.
    private func block(
        _ rows: [ReadingRow], _ part: StoreBatch.Part, of run: RunRow, _ written: inout Written
    ) throws(StoreError) -> [ReadingRow] {
        guard let new = try new(rows, of: run.id) else { return rows }
        var numbers = ChannelNumbers()
        var channels: [[StoredRow]] = []
        for row in new {
            let known = numbers.place(of: row.channel)
            let place = known ?? numbers.insert(row.channel)
            if known == nil { channels.insert([], at: place) }
            channels[place].append(StoredRow(reading: row, hops: part.hops))
        }
        var others: [ReadingRow] = []
        for rows in channels {
            // A few are written sooner as rows than together with the channel's last block.
            if rows.count >= blockedAtOnce,
                try writer.write(rows, of: run.id, least: blockedAtOnce)
            {
                written.added += rows.lazy.map(\.reading)
            } else {
                others += rows.map(\.reading)
            }
        }
        return others
    }

    /// All of these, each once, in the order of their numbers; nil if one of them may be in the
    /// store already: then each has to be looked up.
    private func new(_ rows: [ReadingRow], of run: Int64) throws(StoreError) -> [ReadingRow]? {
        let settled = try statements.settled(of: run)
        let isNew = { (row: ReadingRow) in !settled.contains(UInt64(row.sequence)) }
        guard rows.allSatisfy(isNew) else { return nil }
        let rows = rows.ascending
        // Rows are looked at too, whatever is settled: no number may be both in a row and in a
        // block. Rows of slower channels may lie between these; where they outnumber them, the look
        // takes too long.
        guard let first = rows.first, let last = rows.last,
            let stored = try readings.storedNumbers(
                of: run, sequences: first.sequence...last.sequence, limit: rows.count),
            stored.isEmpty || stored.isDisjoint(with: rows.lazy.map(\.sequence))
        else { return nil }
        return rows
    }

    /// Those of these numbers that are in blocks already. Such a number is settled, so that what is
    /// new needs no look into a block.
    private func packed(_ rows: [ReadingRow], of run: Int64) throws(StoreError) -> Set<Int64> {
        let settled = try statements.settled(of: run)
        let known = rows.compactMap {
            settled.contains(UInt64($0.sequence)) ? $0.sequence : nil
        }.sorted()
        guard let first = known.first, let last = known.last else { return [] }
        var packed: Set<Int64> = []
        try readings.blocks.each(of: run, sequences: first...last) { header throws(StoreError) in
            let own = known.drop { $0 < header.sequences.lowerBound }
                .prefix { $0 <= header.sequences.upperBound }
            if own.isEmpty { return true }
            let rows = try readings.blocks.rows(of: header, run: run) ?? []
            for number in own where rows.contains(sequence: number) { packed.insert(number) }
            return true
        }
        return packed
    }
}

extension [ReadingRow] {
    /// In the order of their numbers; of the same number the first.
    fileprivate var ascending: [ReadingRow] {
        if zip(self, dropFirst()).allSatisfy({ $0.sequence < $1.sequence }) { return self }
        var numbers = Set<Int64>()
        return filter { numbers.insert($0.sequence).inserted }
            .sorted { $0.sequence < $1.sequence }
    }
}

extension Limits {
    /// So many readings of one channel of a run in one commit, or more, go straight into blocks.
    static let blockedAtOnceMin = 128
}
