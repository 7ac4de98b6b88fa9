import NearbyCore

/// The outputs' cursors as the store keeps them. For the thread that commits.
struct CursorTable {
    private let database: Database
    private let select: Statement
    private let insert: Statement
    private let update: Statement
    private let deleteHistory: Statement

    init(_ database: Database) throws(StoreError) {
        self.database = database
        select = try database.prepare(
            """
            SELECT name, change, total, channel, milliseconds, sequence, count, history_run,
                history_sequence, delivered, refused, lost FROM cursors ORDER BY name
            """)
        insert = try database.prepare(
            "INSERT INTO cursors VALUES (?1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)")
        update = try database.prepare(
            """
            UPDATE cursors SET change = ?2, total = ?3, channel = ?4, milliseconds = ?5,
                sequence = ?6, count = ?7, history_run = ?8, history_sequence = ?9,
                delivered = ?10, refused = ?11, lost = ?12
            WHERE name = ?1
            """)
        deleteHistory = try database.prepare(
            "DELETE FROM output_history WHERE output = ?1 AND run_id < ?2")
    }

    /// By name.
    func all() throws(StoreError) -> [OutputProgress] {
        var all: [OutputProgress] = []
        while try select.step() {
            var cursor = OutputCursor(change: select.integer(1), total: select.integer(2))
            cursor.place = OutputCursor.Place(
                channel: select.integer(3), milliseconds: select.integer(4),
                sequence: select.integer(5), count: select.integer(6))
            cursor.historyRun = select.integer(7)
            cursor.historySequence = select.integer(8)
            var progress = OutputProgress(name: select.text(0), cursor: cursor)
            progress.deliveredCount = UInt64(clamping: select.integer(9))
            progress.refusedCount = UInt64(clamping: select.integer(10))
            progress.lostCount = UInt64(clamping: select.integer(11))
            all.append(progress)
        }
        return all
    }

    /// Nothing for an output that has no cursor any more.
    func save(_ progress: OutputProgress) throws(StoreError) {
        let (cursor, place) = (progress.cursor, progress.cursor.place)
        try update.bind(1, progress.name).bind(2, cursor.change).bind(3, cursor.total)
            .bind(4, place.channel).bind(5, place.milliseconds).bind(6, place.sequence)
            .bind(7, place.count).bind(8, cursor.historyRun).bind(9, cursor.historySequence)
            .bind(10, Int64(clamping: progress.deliveredCount))
            .bind(11, Int64(clamping: progress.refusedCount))
            .bind(12, Int64(clamping: progress.lostCount)).run()
        try deleteHistory.bind(1, progress.name).bind(2, cursor.historyRun).run()
    }

    /// Another output goes on from there.
    func rename(_ name: String, to successor: String) throws(StoreError) {
        for (table, key) in Self.keys {
            try database.prepare("UPDATE \(table) SET \(key) = ?2 WHERE \(key) = ?1")
                .bind(1, name).bind(2, successor).run()
        }
    }

    /// Readings that the output has not delivered, as far as that is known.
    func waitingCount(behind progress: OutputProgress) throws(StoreError) -> UInt64 {
        let cursor = progress.cursor
        let total = try database.integer("SELECT \(ChangeLog.totalSQL)") ?? cursor.total
        let news = total.subtractingSaturating(cursor.total)
            .subtractingSaturating(cursor.place.count)
        let history = try database.prepare(
            "SELECT total(count) FROM output_history WHERE output = ?1 AND run_id >= ?2")
        history.bind(1, progress.name).bind(2, cursor.historyRun)
        let old = try history.step() ? history.integer(0) : 0
        return UInt64(clamping: news).addingSaturating(UInt64(clamping: old))
    }

    /// The tables that are about outputs, and where they have the name.
    private static let keys = [("cursors", "name"), ("output_history", "output")]

    func delete(_ name: String) throws(StoreError) {
        for (table, key) in Self.keys {
            try database.prepare("DELETE FROM \(table) WHERE \(key) = ?1").bind(1, name).run()
        }
    }

    /// What a damaged store may have: entries whose numbers leave none for the next ones, and
    /// cursors behind the end of the log, where nothing would ever come.
    func mendLog() throws(StoreError) {
        try database.execute("DELETE FROM changes WHERE id >= \(Self.numberEnd)")
        try database.execute(
            """
            UPDATE sqlite_sequence SET seq = coalesce((SELECT max(id) FROM changes), 0)
            WHERE name = 'changes' AND seq >= \(Self.numberEnd)
            """)
        let start = OutputCursor.Place()
        try database.execute(
            """
            UPDATE cursors SET change = \(Self.lastSQL), channel = \(start.channel),
                milliseconds = \(start.milliseconds), sequence = \(start.sequence),
                count = \(start.count)
            WHERE change > \(Self.lastSQL)
            """)
    }

    /// Beyond what any store could count.
    private static let numberEnd = Int64(1) << 62

    /// The last entry of the log that ever was.
    private static let lastSQL =
        "coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'changes'), 0)"

    /// A cursor at the end of the log; with history, also all that the runs have settled so far.
    func add(_ output: OutputRegistration) throws(StoreError) {
        let last = try database.integer("SELECT \(Self.lastSQL)")
        let total = try database.integer("SELECT \(ChangeLog.totalSQL)")
        let cursor = OutputCursor(change: last ?? 0, total: total ?? 0)
        try insert.bind(1, output.name).run()
        try save(OutputProgress(name: output.name, cursor: cursor))
        guard output.wantsHistory else { return }
        let insert = try database.prepare(
            "INSERT INTO output_history VALUES (?1, ?2, ?3, ?4)")
        let runs = try database.prepare("SELECT id, settled FROM runs ORDER BY id")
        while try runs.step() {
            let bytes = runs.bytes(1)
            guard let settled = try? NumberRanges(parsingStored: bytes), !settled.isEmpty else {
                continue
            }
            try insert.bind(1, output.name).bind(2, runs.integer(0)).bind(3, bytes)
                .bind(4, Int64(clamping: settled.count)).run()
        }
    }
}
