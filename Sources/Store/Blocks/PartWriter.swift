import Collector
import NearbyCore
import Telemetry

/// Writes the readings of a commit: each into a row of its own, but where many of one channel come
/// at once, as of a sensor at 1 kHz or of an agent that was away for long, into blocks. That takes
/// a tenth of the time, and nothing has to be packed later.
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
            // Blocks of few readings take more room than rows, until an hour is over.
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

    /// All of these once, in the order of their numbers; nil if one of them may be in the store, or
    /// cannot be in a block: then each has to be looked for.
    private func new(_ rows: [ReadingRow], of run: Int64) throws(StoreError) -> [ReadingRow]? {
        let settled = try statements.settled(of: run)
        let isNew = { (row: ReadingRow) in
            row.milliseconds <= Report.Entry.millisecondsMax
                && settled?.contains(UInt64(row.sequence)) == false
        }
        guard rows.allSatisfy(isNew) else { return nil }
        let rows = rows.ascending
        // Whatever is settled: no number may be both in a row and in a block. Between these there
        // may be rows of slower channels.
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
            settled?.contains(UInt64($0.sequence)) == false ? nil : $0.sequence
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
    /// Readings of one channel in one commit from which on they are blocks at once.
    static let blockedAtOnceMin = 128
}
