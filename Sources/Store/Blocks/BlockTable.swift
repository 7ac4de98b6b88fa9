import NearbyCore

/// The table of blocks, and what was read of it last. For one connection.
///
/// A block that cannot be read, or whose row says what no store wrote, has no readings for anybody;
/// it is told once, with its place.
final class BlockTable {
    private let selectBytes: Statement
    private let selectByTime: Statement
    private let selectNewest: Statement
    private let selectByTimeBackwards: Statement
    private let selectByNumber: Statement
    private let selectLast: Statement
    private let selectAnyAfter: Statement
    private let selectAnyFrom: Statement
    private let insertBlock: Statement
    private let deleteBlock: Statement
    /// Blocks by their numbers, no more readings than `Limits.blockReadingsHeld`.
    private var held: [Int64: [StoredRow]] = [:]
    private var heldCount = 0
    private var damaged: Set<Int64> = []
    /// Readings of blocks that somebody looked at so far.
    private(set) var readingCount = 0
    /// Lines about blocks that could not be read, since they were taken last.
    private(set) var diagnostics: [String] = []

    init(_ database: Database) throws(StoreError) {
        selectBytes = try database.prepare("SELECT bytes FROM blocks WHERE id = ?1")
        selectByTime = try database.prepare(
            """
            SELECT \(Self.columns) FROM blocks INDEXED BY blocks_by_begin
            WHERE run_id = ?1 AND channel = ?2 AND first_milliseconds > ?3 - \(Self.span)
            AND first_milliseconds < ?4 AND last_milliseconds >= ?3
            ORDER BY first_milliseconds
            """)
        selectNewest = try database.prepare(
            """
            SELECT \(Self.columns) FROM blocks INDEXED BY blocks_by_end
            WHERE run_id = ?1 AND channel = ?2 AND last_milliseconds >= ?3
            AND first_milliseconds < ?4 ORDER BY first_milliseconds
            """)
        selectByTimeBackwards = try database.prepare(
            """
            SELECT \(Self.columns) FROM blocks INDEXED BY blocks_by_end
            WHERE run_id = ?1 AND channel = ?2 AND last_milliseconds >= ?3
            AND last_milliseconds <= ?4 + \(Self.span) AND first_milliseconds < ?4
            ORDER BY last_milliseconds DESC
            """)
        selectByNumber = try database.prepare(
            """
            SELECT \(Self.columns) FROM blocks INDEXED BY blocks_by_number
            WHERE run_id = ?1 AND last_sequence >= ?2
            AND last_sequence <= ?4 AND first_sequence <= ?3
            ORDER BY last_sequence
            """)
        selectLast = try database.prepare(
            """
            SELECT \(Self.columns) FROM blocks INDEXED BY blocks_by_number
            WHERE run_id = ?1 AND last_sequence < ?2 ORDER BY last_sequence DESC
            """)
        selectAnyAfter = try database.prepare(
            """
            SELECT 1 FROM blocks INDEXED BY blocks_by_end
            WHERE run_id = ?1 AND channel = ?2 AND last_milliseconds >= ?3 LIMIT 1
            """)
        selectAnyFrom = try database.prepare(
            """
            SELECT 1 FROM blocks INDEXED BY blocks_by_number
            WHERE run_id = ?1 AND last_sequence >= ?2 LIMIT 1
            """)
        insertBlock = try database.prepare(
            """
            INSERT INTO blocks (run_id, channel, first_sequence, last_sequence,
                first_milliseconds, last_milliseconds, count, bytes)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
            """)
        deleteBlock = try database.prepare("DELETE FROM blocks WHERE id = ?1")
    }

    /// What `BlockHeader` is read from.
    static let columns = """
        id, channel, first_sequence, last_sequence, first_milliseconds, last_milliseconds,
        count, length(bytes), run_id
        """
    /// A block whose times can be: others say nothing of when a run's readings were taken. The
    /// signs keep SQLite from looking rows up by these bounds instead of by what is asked for.
    static let hasLegalTimes = """
        +first_milliseconds >= 0 AND +last_milliseconds >= first_milliseconds
        AND last_milliseconds - first_milliseconds < \(span)
        """
    /// As `hasLegalTimes`, of the numbers.
    static let hasLegalNumbers = """
        +first_sequence > 0 AND +last_sequence >= first_sequence
        AND last_sequence - first_sequence < \(Limits.blockSequencesMax)
        """
    private static let span = Limits.blockMillisecondsMax
    /// If no block ends this much later, blocks are looked for by their ends: ten minutes.
    private static let newestTime: Int64 = 600_000

    // MARK: Which blocks there are

    /// Those that may have readings of a channel in this time, in the order of their beginnings,
    /// until `each` returns false.
    func each(
        of run: Int64, channel: Int64, in milliseconds: Range<Int64>,
        _ each: (BlockHeader) throws(StoreError) -> Bool
    ) throws(StoreError) {
        selectAnyAfter.bind(1, run).bind(2, channel).bind(3, milliseconds.lowerBound)
        guard try Self.exists(selectAnyAfter) else { return }
        // By their beginnings, all blocks of the day before would be looked at, which are many for
        // a fast channel. For the newest times few blocks end later: they are found by their ends.
        let later = milliseconds.lowerBound.addingSaturating(Self.newestTime)
        selectAnyAfter.bind(1, run).bind(2, channel).bind(3, later)
        let select = try Self.exists(selectAnyAfter) ? selectByTime : selectNewest
        select.bind(1, run).bind(2, channel).bind(3, milliseconds.lowerBound)
            .bind(4, milliseconds.upperBound)
        try self.each(select, each)
    }

    /// The same from the end on, in the order of their ends.
    func eachBackwards(
        of run: Int64, channel: Int64, in milliseconds: Range<Int64>,
        _ each: (BlockHeader) throws(StoreError) -> Bool
    ) throws(StoreError) {
        // The sum below must stay in 64 bits.
        let end = min(milliseconds.upperBound, .max - Self.span)
        selectByTimeBackwards.bind(1, run).bind(2, channel).bind(3, milliseconds.lowerBound)
            .bind(4, end)
        try self.each(selectByTimeBackwards, each)
    }

    /// Those that may have readings with these numbers, whatever channel they are of, in the order
    /// of their last numbers.
    func each(
        of run: Int64, sequences: ClosedRange<Int64>,
        _ each: (BlockHeader) throws(StoreError) -> Bool
    ) throws(StoreError) {
        guard try reaches(sequences.lowerBound, of: run) else { return }
        selectByNumber.bind(1, run).bind(2, sequences.lowerBound).bind(3, sequences.upperBound)
            .bind(4, sequences.upperBound.addingSaturating(Limits.blockSequencesMax))
        try self.each(selectByNumber, each)
    }

    /// The one that ends last before this number.
    func last(of run: Int64, before sequence: Int64) throws(StoreError) -> BlockHeader? {
        var found: BlockHeader?
        selectLast.bind(1, run).bind(2, sequence)
        try each(selectLast) {
            found = $0
            return false
        }
        return found
    }

    /// Whether any block has this number or a higher one.
    func reaches(_ sequence: Int64, of run: Int64) throws(StoreError) -> Bool {
        selectAnyFrom.bind(1, run).bind(2, sequence)
        return try Self.exists(selectAnyFrom)
    }

    private static func exists(_ statement: Statement) throws(StoreError) -> Bool {
        defer { statement.reset() }
        return try statement.step()
    }

    /// The blocks of a statement that selects `columns`; one that no store wrote has nothing for
    /// anybody.
    private func each(
        _ statement: Statement, _ each: (BlockHeader) throws(StoreError) -> Bool
    ) throws(StoreError) {
        try eachRow(of: statement) { _, header throws(StoreError) in
            guard let header else { return true }
            return try each(header)
        }
    }

    /// The rows of a statement that selects `columns`, with their numbers, until `each` returns
    /// false. One that no store wrote has no header, and is told once.
    func eachRow(
        of statement: Statement, _ each: (Int64, BlockHeader?) throws(StoreError) -> Bool
    ) throws(StoreError) {
        defer { statement.reset() }
        while try statement.step() {
            let id = statement.integer(0)
            let header = BlockHeader(
                id: id, channel: statement.integer(1),
                first: statement.integer(2), last: statement.integer(3),
                begin: statement.integer(4), end: statement.integer(5),
                count: statement.integer(6), byteCount: statement.integer(7))
            if header == nil, isNew(id) {
                diagnostics.append(
                    "block \(id) is damaged (no store writes such a row) and passed over: "
                        + "readings of channel \(statement.integer(1)) of run "
                        + "\(statement.integer(8))")
            }
            if try !each(id, header) { return }
        }
    }

    // MARK: What is in them

    /// Ascending in sequence; nil if it is damaged.
    func rows(of header: BlockHeader, run: Int64) throws(StoreError) -> [StoredRow]? {
        // Nobody knows what a damaged one's count is worth.
        if damaged.contains(header.id) { return nil }
        readingCount += min(header.count, Limits.blockReadingsHeld)
        if let known = held[header.id] { return known }
        selectBytes.bind(1, header.id)
        let bytes = try selectBytes.step() ? selectBytes.bytes(0) : []
        selectBytes.reset()
        do throws(WireError) {
            let rows = try ReadingBlock.rows(parsing: bytes, channel: header.channel)
            guard header.describes(rows) else { throw .invalid(field: "header") }
            hold(rows, of: header.id)
            return rows
        } catch {
            note(header, run, error)
            return nil
        }
    }

    private func hold(_ rows: [StoredRow], of id: Int64) {
        if heldCount + rows.count > Limits.blockReadingsHeld {
            held = [:]
            heldCount = 0
        }
        held[id] = rows
        heldCount += rows.count
    }

    /// What was read within a transaction that came to nothing: numbers are given anew.
    func forget() {
        held = [:]
        heldCount = 0
    }

    private func note(_ header: BlockHeader, _ run: Int64, _ error: WireError) {
        guard isNew(header.id) else { return }
        diagnostics.append(
            "block \(header.id) is damaged (\(error)) and passed over: \(header.count) readings "
                + "of channel \(header.channel) of run \(run), numbers "
                + "\(header.sequences.lowerBound) to \(header.sequences.upperBound)")
    }

    /// Whether a damaged block is to be told.
    private func isNew(_ id: Int64) -> Bool {
        damaged.count < Limits.damagedBlocksTold && damaged.insert(id).inserted
    }

    /// How many blocks could not be read so far.
    var damagedCount: Int { damaged.count }

    func takeDiagnostics() -> [String] {
        defer { diagnostics = [] }
        return diagnostics
    }

    // MARK: Writing

    func insert(_ block: ReadingBlock, of run: Int64) throws(StoreError) {
        let header = block.header
        try insertBlock.bind(1, run).bind(2, Int64(header.channel))
            .bind(3, header.sequences.lowerBound).bind(4, header.sequences.upperBound)
            .bind(5, header.milliseconds.lowerBound).bind(6, header.milliseconds.upperBound)
            .bind(7, Int64(header.count)).bind(8, block.bytes).run()
    }

    func delete(_ id: Int64) throws(StoreError) {
        try deleteBlock.bind(1, id).run()
        if let rows = held.removeValue(forKey: id) { heldCount -= rows.count }
    }
}

extension Limits {
    /// Readings of blocks that a connection holds in memory, 56 bytes each.
    static let blockReadingsHeld = 80_000
    /// Damaged blocks that are told one by one.
    static let damagedBlocksTold = 1_000
}
