import CSQLite
import Collector
import NearbyCore
import Telemetry

extension Store {
    /// Opens the store at `path`, made if it is missing, brought to this version's format if it is
    /// an earlier one's.
    ///
    /// A damaged file, or one that is no store of ours, is renamed to `PATH.damaged-N` or
    /// `PATH.foreign-N` together with its `-wal` and `-shm`, and a new one is made; a notice says
    /// so. Throws `.newer` for a later version's file, which is left as it is, and `.file` or
    /// `.notAFile` when nothing can be written there.
    ///
    /// - Parameter isDamaged: known from a failed commit, so that the file is set aside unread.
    public static func open(
        _ path: String, _ settings: Settings = Settings(), isDamaged: Bool = false
    ) throws(StoreError) -> Opened {
        let place = StorePlace(path)
        try place.check()
        let outputs = settings.outputs.map(\.name)
        var diagnostics: [String] = []
        if isDamaged, place.exists {
            let aside = try place.setAside(as: "damaged")
            diagnostics.append("the store \(path) is damaged: kept as \(aside), a new one begins")
            diagnostics += newBeginning(of: outputs, without: aside)
        }
        do {
            return try open(at: place, settings, diagnostics: diagnostics)
        } catch {
            let aside: String
            switch error {
            case .damaged: aside = try place.setAside(as: "damaged")
            case .foreign: aside = try place.setAside(as: "foreign")
            default: throw error
            }
            diagnostics.append("\(error): \(path) is kept as \(aside), a new store begins")
            diagnostics += newBeginning(of: outputs, without: aside)
            return try open(at: place, settings, diagnostics: diagnostics)
        }
    }

    /// The cursors were in the store that was set aside.
    private static func newBeginning(of outputs: [String], without aside: String) -> [String] {
        guard !outputs.isEmpty else { return [] }
        return [
            "the outputs (\(outputs.sorted().joined(separator: ", "))) begin anew with the new "
                + "store: what they had not delivered is in \(aside) alone"
        ]
    }

    private static func open(
        at place: StorePlace, _ settings: Settings, diagnostics: [String]
    ) throws(StoreError) -> Opened {
        let isNew = !place.exists
        // SQLite would take it for an empty file and write over it.
        if place.isTooShort { throw .damaged("the file is too short") }
        let database = try Database(place.path, .writing)
        try Schema.check(database)
        try database.execute(
            """
            PRAGMA journal_mode = WAL;
            PRAGMA synchronous = FULL;
            PRAGMA trusted_schema = OFF;
            PRAGMA cell_size_check = ON;
            PRAGMA cache_size = -8192;
            PRAGMA journal_size_limit = 16777216;
            """)
        try Schema.migrate(database)
        try setWindowWidth(settings.windowWidth, in: database)
        if isNew { try place.synchronizeDirectory() }
        var opened = Opened(
            store: try Store(database, settings), runs: [], clocks: [], diagnostics: diagnostics)
        opened.outputs = try opened.store.register(settings.outputs)
        try opened.readRuns(database)
        try deleteUnusedClocks(database)
        let boots = try database.prepare("SELECT DISTINCT boot FROM clocks ORDER BY boot")
        while try boots.step() {
            guard let boot = BootID(stored: boots.bytes(0)) else { continue }
            opened.clocks += try opened.store.clocks.mappings(of: boot).all
        }
        return opened
    }

    /// What was said of a boot that no run has dates nothing, and nobody knows any more who said
    /// it: it must not date the run of another agent that shows this boot later.
    private static func deleteUnusedClocks(_ database: Database) throws(StoreError) {
        try database.transaction { () throws(StoreError) in
            for table in ["clocks", "window_clocks"] {
                try database.execute(
                    "DELETE FROM \(table) WHERE boot NOT IN (SELECT boot FROM runs)")
            }
        }
    }

    /// With another width than before, all windows are laid anew.
    private static func setWindowWidth(
        _ width: Duration, in database: Database
    ) throws(StoreError) {
        let stored = try database.integer("SELECT value FROM settings WHERE name = 'window'")
        let wanted = WindowGrid.widths.clamp(width.nanoseconds)
        guard stored != wanted else { return }
        try database.transaction { () throws(StoreError) in
            try database.execute("INSERT OR REPLACE INTO settings VALUES ('window', \(wanted))")
            // The first narrow window that is kept, in the new numbering.
            let narrow = try NarrowWindows.begin(database)
            if let stored, narrow != .min {
                let (begin, isPast) = narrow.multipliedReportingOverflow(by: stored)
                let number = isPast ? Int64.min : begin / wanted + 1
                try database.execute("INSERT OR REPLACE INTO settings VALUES ('narrow', \(number))")
            }
            try database.execute(
                """
                DELETE FROM moved_windows;
                INSERT INTO moved_windows SELECT id, \(Int64.min), \(Int64.max), NULL FROM runs
                """)
        }
    }
}

extension Store.Opened {
    fileprivate mutating func readRuns(_ database: Database) throws(StoreError) {
        let gaps = try database.prepare("SELECT first, count FROM gaps WHERE run_id = ?1")
        let rows = try database.prepare(
            """
            SELECT peers.peer, runs.run, runs.birth, runs.settled, runs.id
            FROM runs JOIN peers ON peers.id = runs.peer_id ORDER BY runs.id
            """)
        var unreadable = 0
        while try rows.step() {
            guard let peer = PeerID(bytes: rows.bytes(0)), let run = RunID(stored: rows.bytes(1)),
                case .birth(let birth)? = try? TelemetryMessage(parsing: rows.bytes(2)),
                birth.run == run,
                var settled = try? NumberRanges(parsingStored: rows.bytes(3))
            else {
                unreadable += 1
                continue
            }
            gaps.bind(1, rows.integer(4))
            while try gaps.step() {
                let (first, count) = (gaps.integer(0), gaps.integer(1))
                let end = first.addingSaturating(count)
                // The end of a killed run: nobody knows where it was.
                guard first > 0, count > 0, UInt64(end) < Gap.openEnd else { continue }
                settled.insert(UInt64(first)..<UInt64(end))
            }
            let key = RunKey(peer: peer, run: run)
            runs.append(StoredRun(key: key, birth: birth, settled: settled))
        }
        if unreadable > 0 {
            diagnostics.append(
                "\(unreadable) runs in \(database.path) cannot be read and are ignored")
        }
    }
}
