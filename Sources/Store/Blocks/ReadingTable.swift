import NearbyCore
import Telemetry

/// The readings of a store, whether they lie in rows, as the last hour's usually do, or in blocks.
/// For one connection; what is asked for together must be of one snapshot of the file.
final class ReadingTable {
    let blocks: BlockTable
    /// Rows looked at so far.
    private var rowCount = 0
    private let selectTimes: Statement
    private let selectTimesBackwards: Statement
    private let selectNumbers: Statement
    private let selectBefore: Statement
    private let selectRowNumbers: Statement
    private let countNumbers: Statement

    private static let columns = """
        sequence, milliseconds, coefficient, exponent, reason, hops, channel
        """
    /// Of a row: it says when its reading was taken. The sign keeps SQLite from looking rows up by
    /// these bounds instead of by what is asked for.
    static let hasLegalTime = "+milliseconds BETWEEN 0 AND \(Report.Entry.millisecondsMax)"
    /// A row that no store wrote is nobody's: it is passed over. The signs are as above.
    private static let isLegal = """
        +sequence > 0 AND \(hasLegalTime)
        AND +channel BETWEEN 0 AND 65535 AND CASE WHEN coefficient IS NULL
            THEN reason BETWEEN 0 AND 255 ELSE exponent BETWEEN -128 AND 127 END
        """

    init(_ database: Database) throws(StoreError) {
        blocks = try BlockTable(database)
        selectTimes = try database.prepare(
            """
            SELECT \(Self.columns) FROM readings WHERE run_id = ?1 AND channel = ?2
            AND (milliseconds, sequence) > (?3, ?4) AND milliseconds < ?5 AND \(Self.isLegal)
            ORDER BY milliseconds, sequence LIMIT ?6
            """)
        selectTimesBackwards = try database.prepare(
            """
            SELECT \(Self.columns) FROM readings WHERE run_id = ?1 AND channel = ?2
            AND (milliseconds, sequence) < (?3, ?4) AND milliseconds >= ?5 AND \(Self.isLegal)
            ORDER BY milliseconds DESC, sequence DESC LIMIT ?6
            """)
        selectNumbers = try database.prepare(
            """
            SELECT \(Self.columns) FROM readings WHERE run_id = ?1 AND sequence BETWEEN ?2 AND ?3
            AND \(Self.isLegal) ORDER BY sequence LIMIT ?4
            """)
        selectBefore = try database.prepare(
            """
            SELECT \(Self.columns) FROM readings WHERE run_id = ?1 AND sequence < ?2
            AND \(Self.isLegal) ORDER BY sequence DESC LIMIT 1
            """)
        selectRowNumbers = try database.prepare(
            """
            SELECT sequence FROM readings WHERE run_id = ?1 AND sequence BETWEEN ?2 AND ?3 LIMIT ?4
            """)
        countNumbers = try database.prepare(
            """
            SELECT count(*) FROM (SELECT 1 FROM readings
            WHERE run_id = ?1 AND sequence BETWEEN ?2 AND ?3 LIMIT \(Self.countMax))
            """)
    }

    /// A place in the order of time and number.
    struct Place: Hashable, Comparable {
        var milliseconds: Int64
        var sequence: Int64

        static func < (left: Place, right: Place) -> Bool {
            (left.milliseconds, left.sequence) < (right.milliseconds, right.sequence)
        }
    }

    /// What was looked at so far, in rows: ten readings of a block cost as much as one.
    var cost: Int { rowCount + blocks.readingCount / 10 }

    // MARK: By time

    /// Of a channel of a run, the first after the place and before the end, in order of time and
    /// number. If there are as many as `limit`, more may follow.
    func rows(
        of run: Int64, channel: Int64, after place: Place, before end: Int64, limit: Int
    ) throws(StoreError) -> [StoredRow] {
        var rows: [StoredRow] = []
        guard place.milliseconds < end, limit > 0 else { return rows }
        selectTimes.bind(1, run).bind(2, channel).bind(3, place.milliseconds)
            .bind(4, place.sequence).bind(5, end).bind(6, Int64(limit))
        try take(selectTimes, into: &rows)
        // What lies behind a full page of rows is not wanted.
        let bound = rows.count < limit ? end : min(end, rows[limit - 1].place.milliseconds + 1)
        guard place.milliseconds < bound else { return rows }
        var found: [StoredRow] = []
        var latest = Place(milliseconds: .min, sequence: .min)
        try blocks.each(of: run, channel: channel, in: place.milliseconds..<bound) {
            header throws(StoreError) in
            // Of one time there may be very many.
            if header.latest <= place { return true }
            if found.count >= limit, header.earliest > latest {
                return header.earliest.milliseconds <= latest.milliseconds
            }
            for row in try blocks.rows(of: header, run: run) ?? []
            where row.place > place && row.place.milliseconds < bound {
                found.append(row)
                latest = max(latest, row.place)
            }
            return true
        }
        return Self.merged(rows, found, limit: limit, by: StoredRow.isEarlier)
    }

    /// The same from the end on, latest first.
    func rowsBackwards(
        of run: Int64, channel: Int64, before place: Place, from begin: Int64, limit: Int
    ) throws(StoreError) -> [StoredRow] {
        var rows: [StoredRow] = []
        guard place.milliseconds >= begin, limit > 0 else { return rows }
        selectTimesBackwards.bind(1, run).bind(2, channel).bind(3, place.milliseconds)
            .bind(4, place.sequence).bind(5, begin).bind(6, Int64(limit))
        try take(selectTimesBackwards, into: &rows)
        let bound = rows.count < limit ? begin : max(begin, rows[limit - 1].place.milliseconds)
        let end = place.milliseconds.addingSaturating(1)
        guard bound < end else { return rows }
        var found: [StoredRow] = []
        var earliest = Int64.max
        try blocks.eachBackwards(of: run, channel: channel, in: bound..<end) {
            header throws(StoreError) in
            if found.count >= limit, header.milliseconds.upperBound < earliest { return false }
            for row in try blocks.rows(of: header, run: run) ?? []
            where row.place < place && row.place.milliseconds >= bound {
                found.append(row)
                earliest = min(earliest, row.place.milliseconds)
            }
            return true
        }
        return Self.merged(rows, found, limit: limit) { StoredRow.isEarlier($1, $0) }
    }

    /// When the first and the last reading of a channel in this time were taken; nil without any.
    func span(
        of run: Int64, channel: Int64, in milliseconds: Range<Int64>
    ) throws(StoreError) -> ClosedRange<Int64>? {
        let begin = Place(milliseconds: milliseconds.lowerBound, sequence: .min)
        let first = try rows(
            of: run, channel: channel, after: begin, before: milliseconds.upperBound, limit: 1)
        let end = Place(milliseconds: milliseconds.upperBound, sequence: .min)
        let last = try rowsBackwards(
            of: run, channel: channel, before: end, from: milliseconds.lowerBound, limit: 1)
        guard let first = first.first, let last = last.first else { return nil }
        return first.place.milliseconds...max(first.place.milliseconds, last.place.milliseconds)
    }

    // MARK: By number

    /// Of a run, those with these numbers, in their order, whatever channel they are of. If there
    /// are as many as `limit`, more may follow.
    func rows(
        of run: Int64, sequences: ClosedRange<Int64>, limit: Int
    ) throws(StoreError) -> [StoredRow] {
        guard limit > 0 else { return [] }
        let rows = try storedRows(of: run, sequences: sequences, limit: limit)
        let last = rows.count < limit ? sequences.upperBound : rows[limit - 1].reading.sequence
        var found: [StoredRow] = []
        // Channels take turns: a piece of all of them, rather than whole blocks of each.
        var (first, width) = (sequences.lowerBound, Int64(limit))
        while first <= last, found.count < limit, try blocks.reaches(first, of: run) {
            var piece = first...min(last, first.addingSaturating(width - 1))
            // What was wide enough for a hole in the numbers is far too much behind it.
            while width > limit, try isCrowded(piece, of: run, limit) {
                width = max(Int64(limit), width / 4)
                piece = first...min(last, first.addingSaturating(width - 1))
            }
            try blocks.each(of: run, sequences: piece) { header throws(StoreError) in
                found += try blocks.rows(of: header, run: run)?.within(piece) ?? []
                return true
            }
            guard piece.upperBound < last else { break }
            first = piece.upperBound + 1
            width = width.multipliedReportingOverflow(by: 4).overflow ? .max : width * 4
        }
        return Self.merged(rows, found, limit: limit, by: StoredRow.isLower)
    }

    /// The same of those that lie in rows.
    func storedRows(
        of run: Int64, sequences: ClosedRange<Int64>, limit: Int
    ) throws(StoreError) -> [StoredRow] {
        var rows: [StoredRow] = []
        selectNumbers.bind(1, run).bind(2, sequences.lowerBound).bind(3, sequences.upperBound)
            .bind(4, Int64(limit))
        try take(selectNumbers, into: &rows)
        return rows
    }

    /// The numbers in this range that lie in rows; nil if they are more than the limit.
    func storedNumbers(
        of run: Int64, sequences: ClosedRange<Int64>, limit: Int
    ) throws(StoreError) -> Set<Int64>? {
        selectRowNumbers.bind(1, run).bind(2, sequences.lowerBound)
            .bind(3, sequences.upperBound).bind(4, Int64(limit) + 1)
        var numbers: Set<Int64> = []
        while try selectRowNumbers.step() { numbers.insert(selectRowNumbers.integer(0)) }
        return numbers.count > limit ? nil : numbers
    }

    /// The one with the highest number below this.
    func row(of run: Int64, before sequence: Int64) throws(StoreError) -> StoredRow? {
        var rows: [StoredRow] = []
        selectBefore.bind(1, run).bind(2, sequence)
        try take(selectBefore, into: &rows)
        var headers: [BlockHeader] = []
        try blocks.each(of: run, sequences: sequence...sequence) {
            headers.append($0)
            return true
        }
        if let last = try blocks.last(of: run, before: sequence) { headers.append(last) }
        for header in headers {
            let own = try blocks.rows(of: header, run: run) ?? []
            if let last = own.within(Int64.min...(sequence - 1)).last { rows.append(last) }
        }
        return rows.max(by: StoredRow.isLower)
    }

    /// The one with this number, or with the lowest above it.
    func row(of run: Int64, notBefore sequence: Int64) throws(StoreError) -> StoredRow? {
        try rows(of: run, sequences: sequence...Int64.max, limit: 1).first
    }

    /// How many of these numbers are there. It stops at a million, so that two absurd numbers of
    /// one agent do not stop the store.
    func count(of run: Int64, sequences: ClosedRange<Int64>) throws(StoreError) -> Int64 {
        countNumbers.bind(1, run).bind(2, sequences.lowerBound).bind(3, sequences.upperBound)
        var count = try countNumbers.step() ? countNumbers.integer(0) : 0
        countNumbers.reset()
        // They are only counted.
        rowCount += Int(count / 50)
        try blocks.each(of: run, sequences: sequences) { header throws(StoreError) in
            let isWhole =
                sequences.contains(header.sequences.lowerBound)
                && sequences.contains(header.sequences.upperBound)
            if isWhole {
                count += Int64(header.count)
            } else {
                count += Int64(try blocks.rows(of: header, run: run)?.within(sequences).count ?? 0)
            }
            return count < Self.countMax
        }
        return min(count, Self.countMax)
    }

    /// The numbers of all of them. Each block is read once, and of a run there may be millions.
    func numbers(of run: Int64) throws(StoreError) -> NumberRanges {
        var numbers = NumberSet()
        var next: Int64? = 1
        while let first = next {
            let page = try storedRows(of: run, sequences: first...Int64.max, limit: Self.page)
            for row in page { numbers.insert(row.reading.sequence) }
            let last = page.count < Self.page ? Int64.max : page[Self.page - 1].reading.sequence
            next = last < .max ? last + 1 : nil
        }
        try blocks.each(of: run, sequences: 1...Int64.max) { header throws(StoreError) in
            for row in try blocks.rows(of: header, run: run) ?? [] {
                numbers.insert(row.reading.sequence)
            }
            return true
        }
        return numbers.ranges
    }

    private static let page = 4_096

    /// Whether these numbers may have many more readings than are wanted; no block is opened for
    /// it.
    private func isCrowded(
        _ sequences: ClosedRange<Int64>, of run: Int64, _ limit: Int
    ) throws(StoreError) -> Bool {
        let most = limit.multipliedReportingOverflow(by: 8)
        var left = most.overflow ? Int.max : most.partialValue
        try blocks.each(of: run, sequences: sequences) { header throws(StoreError) in
            left -= header.count
            return left >= 0
        }
        return left < 0
    }

    private static let countMax: Int64 = 1_000_000

    // MARK: Parts

    private static func merged(
        _ rows: [StoredRow], _ found: [StoredRow], limit: Int,
        by precedes: (StoredRow, StoredRow) -> Bool
    ) -> [StoredRow] {
        if found.isEmpty { return rows }
        var all = found + rows
        let isSorted = zip(all, all.dropFirst()).allSatisfy { precedes($0, $1) }
        if !isSorted { all.sort(by: precedes) }
        return all.count > limit ? Array(all[..<limit]) : all
    }

    private func take(
        _ statement: Statement, into rows: inout [StoredRow]
    ) throws(StoreError) {
        while try statement.step() {
            rowCount += 1
            let channel = UInt16(clamping: statement.integer(6))
            guard let reading = ReadingRow(statement, channel: channel) else { continue }
            rows.append(StoredRow(reading: reading, hops: UInt8(clamping: statement.integer(5))))
        }
    }
}

extension BlockHeader {
    /// No reading comes before.
    fileprivate var earliest: ReadingTable.Place {
        ReadingTable.Place(
            milliseconds: milliseconds.lowerBound, sequence: sequences.lowerBound)
    }

    /// No reading comes after.
    fileprivate var latest: ReadingTable.Place {
        ReadingTable.Place(
            milliseconds: milliseconds.upperBound, sequence: sequences.upperBound)
    }
}
