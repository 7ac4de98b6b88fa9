import NearbyCore

/// Deletes narrow windows that are older than `WideWindows` says. From `begin` on all are
/// there; before, they are computed from the readings by whoever wants them.
///
/// Nothing is lost by it, whatever our clock says; it only has to be right enough that not all go.
struct NarrowWindows {
    private let database: Database
    private let selectNext: Statement
    private let delete: Statement
    /// The channel behind which the pass stands, and before which number it deletes; nil: there is
    /// none under way.
    private var place: (run: Int64, channel: Int64, end: Int64)?
    private var nextPass: Instant?

    init(_ database: Database) throws(StoreError) {
        self.database = database
        selectNext = try database.prepare(
            """
            SELECT run_id, channel FROM windows WHERE (run_id, channel) > (?1, ?2)
            ORDER BY run_id, channel LIMIT 1
            """)
        delete = try database.prepare(
            """
            DELETE FROM windows WHERE run_id = ?1 AND channel = ?2 AND number IN
            (SELECT number FROM windows WHERE run_id = ?1 AND channel = ?2 AND number < ?3
                LIMIT ?4)
            """)
    }

    /// The number of the first that is kept.
    static func begin(_ database: Database) throws(StoreError) -> Int64 {
        try database.integer("SELECT value FROM settings WHERE name = 'narrow'") ?? .min
    }

    /// Goes on with the pass, or begins one if it is time; within a transaction.
    ///
    /// - Parameter utc: ours, which is right; nanoseconds.
    mutating func prune(
        now: Instant, utc: Int64, width: Int64, _ left: inout Int
    ) throws(StoreError) {
        if place == nil {
            if let nextPass, now < nextPass, nextPass - now <= Self.interval { return }
            let begin = try Self.begin(database)
            let kept = max(
                WideWindows.narrowKept, WideWindows.narrowKeptTime.nanoseconds / width)
            let wanted = WindowGrid.number(at: utc, width: width).subtractingSaturating(kept)
            if wanted > begin {
                try database.execute("INSERT OR REPLACE INTO settings VALUES ('narrow', \(wanted))")
            }
            // Not up to the new one: whoever reads now may go by the old one for a while.
            place = (.min, .min, begin)
            nextPass = now + Self.interval
        }
        while left > 0, let (run, channel, end) = place {
            selectNext.bind(1, run).bind(2, channel)
            guard try selectNext.step() else { return place = nil }
            let next = (run: selectNext.integer(0), channel: selectNext.integer(1))
            selectNext.reset()
            let limit = left
            try delete.bind(1, next.run).bind(2, next.channel).bind(3, end)
                .bind(4, Int64(limit)).run()
            let count = database.changeCount
            left -= 1 + count
            if count < limit { place = (next.run, next.channel, end) }
        }
    }

    private static let interval: Duration = .seconds(3_600)
}
