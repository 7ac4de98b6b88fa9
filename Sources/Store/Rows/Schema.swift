/// The tables, and the steps from each version to the next. A step that was released never changes.
enum Schema {
    /// "Rvlt": `PRAGMA application_id` of our files.
    static let applicationID: Int64 = 0x5276_6c74

    /// `PRAGMA user_version` after all steps.
    static var version: Int64 { Int64(steps.count) }

    /// Step n leads from version n to n + 1.
    static let steps = [base, windows, stretches, foundations, outputs, mesh, blocks]

    /// Whether this is a file of ours or an empty one; nothing is written.
    static func check(_ database: Database) throws(StoreError) {
        let id = try database.integer("PRAGMA application_id") ?? 0
        let version = try database.integer("PRAGMA user_version") ?? 0
        let tables = try database.integer("SELECT count(*) FROM sqlite_schema") ?? 0
        if id == 0, version == 0, tables == 0 { return }
        guard id == applicationID else { throw .foreign(path: database.path) }
        guard version <= Self.version else {
            throw .newer(path: database.path, version: version)
        }
    }

    /// All steps that are missing, in one transaction.
    static func migrate(_ database: Database) throws(StoreError) {
        let version = try database.integer("PRAGMA user_version") ?? 0
        guard version < Self.version else { return }
        guard version >= 0 else { throw .damaged("format \(version)") }
        try database.transaction { () throws(StoreError) in
            for step in steps[Int(version)...] { try database.execute(step) }
            try database.execute("PRAGMA application_id = \(applicationID)")
            try database.execute("PRAGMA user_version = \(Self.version)")
        }
    }

    /// Identifiers are blobs, big-endian, so that `hex()` shows them as the program does. Numbers
    /// of runs (`run_id`) are ours and mean nothing outside of this file.
    ///
    /// A reading is null where `coefficient` is; then `reason` says why. `milliseconds` are of the
    /// board's CLOCK_BOOTTIME: UTC is `milliseconds` and an `offset` (ns) of the run's boot in
    /// `clocks`, so that a better mapping re-dates all readings by the change of a row.
    private static let base = """
        CREATE TABLE peers (
            id INTEGER PRIMARY KEY,
            peer BLOB NOT NULL UNIQUE,
            name TEXT NOT NULL
        ) STRICT;
        CREATE TABLE runs (
            id INTEGER PRIMARY KEY,
            peer_id INTEGER NOT NULL,
            run BLOB NOT NULL,
            boot BLOB NOT NULL,
            birth BLOB NOT NULL,
            settled BLOB NOT NULL,
            UNIQUE (peer_id, run)
        ) STRICT;
        CREATE INDEX runs_by_boot ON runs (boot);
        CREATE TABLE channels (
            run_id INTEGER NOT NULL,
            number INTEGER NOT NULL,
            name TEXT NOT NULL,
            unit TEXT NOT NULL,
            scale INTEGER NOT NULL,
            PRIMARY KEY (run_id, number)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE readings (
            run_id INTEGER NOT NULL,
            sequence INTEGER NOT NULL,
            channel INTEGER NOT NULL,
            milliseconds INTEGER NOT NULL,
            coefficient INTEGER,
            exponent INTEGER,
            reason INTEGER,
            hops INTEGER NOT NULL,
            PRIMARY KEY (run_id, sequence)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX readings_by_time ON readings (run_id, channel, milliseconds);
        CREATE TABLE gaps (
            run_id INTEGER NOT NULL,
            first INTEGER NOT NULL,
            count INTEGER NOT NULL,
            reason INTEGER NOT NULL,
            PRIMARY KEY (run_id, first)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE clocks (
            boot BLOB PRIMARY KEY,
            offset INTEGER NOT NULL,
            rank INTEGER NOT NULL,
            uncertainty INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        """

    /// `windows` has one row for each run, channel and window that a reading lies in, `run_windows`
    /// what all channels of a run share. Numbers count widths since 1970.
    ///
    /// `due_windows`: to be computed, again or for the first time. `undated_since`: since when, by
    /// UTC, a right clock has known of the run. `window_offset` and `marked_from` did not last.
    private static let windows = """
        ALTER TABLE clocks ADD COLUMN window_offset INTEGER;
        ALTER TABLE runs ADD COLUMN marked_from INTEGER;
        ALTER TABLE runs ADD COLUMN undated_since INTEGER;
        CREATE INDEX runs_to_mark ON runs (marked_from) WHERE marked_from IS NOT NULL;
        CREATE TABLE windows (
            run_id INTEGER NOT NULL,
            channel INTEGER NOT NULL,
            number INTEGER NOT NULL,
            count INTEGER NOT NULL,
            nulls INTEGER NOT NULL,
            min_coefficient INTEGER,
            min_exponent INTEGER,
            max_coefficient INTEGER,
            max_exponent INTEGER,
            mean REAL,
            deviation REAL,
            p50 REAL,
            p95 REAL,
            is_exact INTEGER NOT NULL,
            last_coefficient INTEGER,
            last_exponent INTEGER,
            last_reason INTEGER,
            hops INTEGER NOT NULL,
            PRIMARY KEY (run_id, channel, number)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE run_windows (
            run_id INTEGER NOT NULL,
            number INTEGER NOT NULL,
            first INTEGER NOT NULL,
            last INTEGER NOT NULL,
            received INTEGER NOT NULL,
            PRIMARY KEY (run_id, number)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE due_windows (
            number INTEGER NOT NULL,
            run_id INTEGER NOT NULL,
            PRIMARY KEY (number, run_id)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX due_windows_by_run ON due_windows (run_id);
        CREATE TABLE settings (
            name TEXT PRIMARY KEY,
            value INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        """

    /// `clocks` has a row for each stretch of a boot's time: `since` (ns) is of the board's clock.
    /// A reading goes by the row with the greatest `since` that is not after it, otherwise by the
    /// first. `window_clocks` says in the same way what windows lie by, which follows only larger
    /// moves.
    ///
    /// `moved_windows`: the run's windows from `first` to `last` are wrong. While `cursor` is NULL
    /// they have still to be deleted; then the readings from that millisecond of the board's clock
    /// on have still to be entered in `due_windows`.
    private static let stretches = """
        ALTER TABLE clocks RENAME TO boot_clocks;
        CREATE TABLE clocks (
            boot BLOB NOT NULL,
            since INTEGER NOT NULL,
            offset INTEGER NOT NULL,
            rank INTEGER NOT NULL,
            uncertainty INTEGER NOT NULL,
            PRIMARY KEY (boot, since)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO clocks SELECT boot, 0, offset, rank, uncertainty FROM boot_clocks;
        CREATE TABLE window_clocks (
            boot BLOB NOT NULL,
            since INTEGER NOT NULL,
            offset INTEGER NOT NULL,
            PRIMARY KEY (boot, since)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO window_clocks SELECT boot, 0, offset FROM boot_clocks;
        DROP TABLE boot_clocks;
        DROP INDEX runs_to_mark;
        ALTER TABLE runs DROP COLUMN marked_from;
        CREATE TABLE moved_windows (
            run_id INTEGER NOT NULL,
            first INTEGER NOT NULL,
            last INTEGER NOT NULL,
            cursor INTEGER,
            PRIMARY KEY (run_id, first, last)
        ) STRICT, WITHOUT ROWID;
        INSERT INTO moved_windows SELECT id, \(Int64.min), \(Int64.max), NULL FROM runs;
        """

    /// `is_foreign`: the mapping rests on an agent's word of UTC, or nobody knows on whose: earlier
    /// versions did not write it down. `latest_offset`: by our own right clock, UTC less the
    /// board's clock was at most this (ns), because its newest reading was here then.
    private static let foundations = """
        ALTER TABLE clocks ADD COLUMN is_foreign INTEGER NOT NULL DEFAULT 1;
        ALTER TABLE runs ADD COLUMN latest_offset INTEGER;
        """

    /// What outputs follow. `changes` is the log: a row for what a commit had of a run, or for
    /// readings that have other times now. `ranges` are sequence numbers, or, where `kind` says so,
    /// milliseconds of the board's clock; `low` and `high` are their bounds. `total` counts the
    /// readings of all rows that ever were up to this one.
    ///
    /// `cursors` says how far each output has come: all changes up to `change` are delivered, and
    /// of the next what comes up to the place. `output_history` has the runs that an output has
    /// still to deliver of what there was before it.
    private static let outputs = """
        CREATE TABLE changes (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            run_id INTEGER NOT NULL,
            kind INTEGER NOT NULL,
            time INTEGER NOT NULL,
            low INTEGER NOT NULL,
            high INTEGER NOT NULL,
            count INTEGER NOT NULL,
            total INTEGER NOT NULL,
            ranges BLOB NOT NULL,
            former_first INTEGER,
            former_last INTEGER
        ) STRICT;
        CREATE INDEX changes_by_run ON changes (run_id, low);
        CREATE TABLE cursors (
            name TEXT PRIMARY KEY,
            change INTEGER NOT NULL,
            total INTEGER NOT NULL,
            channel INTEGER NOT NULL,
            milliseconds INTEGER NOT NULL,
            sequence INTEGER NOT NULL,
            count INTEGER NOT NULL,
            history_run INTEGER NOT NULL,
            history_sequence INTEGER NOT NULL,
            delivered INTEGER NOT NULL,
            refused INTEGER NOT NULL,
            lost INTEGER NOT NULL
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE output_history (
            output TEXT NOT NULL,
            run_id INTEGER NOT NULL,
            ranges BLOB NOT NULL,
            count INTEGER NOT NULL,
            PRIMARY KEY (output, run_id)
        ) STRICT, WITHOUT ROWID;
        """

    /// Who reached whom: what became another, and when (UTC, ns). Of each two nodes the row with
    /// the greatest `utc` that is not after a time says how it was then. `near` is the one nearer
    /// to the collector.
    private static let mesh = """
        CREATE TABLE mesh (
            id INTEGER PRIMARY KEY,
            utc INTEGER NOT NULL,
            near BLOB NOT NULL,
            far BLOB NOT NULL,
            link TEXT NOT NULL,
            cost INTEGER NOT NULL,
            loss REAL,
            is_direct INTEGER NOT NULL,
            is_gone INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX mesh_by_link ON mesh (near, far, utc);
        """

    /// Readings that are older than about an hour: a row for some hundred of one channel, which
    /// `bytes` has (`ReadingBlock`). No reading is both here and in `readings`.
    ///
    /// `wide_windows` is as `windows`, with sixty times the width; those of a run are complete from
    /// `wide_from` on. Of a row in `due_wide_windows` the channels up to `channel` are computed.
    /// `windows` itself is complete from the number on that `settings` has as `narrow`.
    private static let blocks = """
        CREATE TABLE blocks (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            run_id INTEGER NOT NULL,
            channel INTEGER NOT NULL,
            first_sequence INTEGER NOT NULL,
            last_sequence INTEGER NOT NULL,
            first_milliseconds INTEGER NOT NULL,
            last_milliseconds INTEGER NOT NULL,
            count INTEGER NOT NULL,
            bytes BLOB NOT NULL
        ) STRICT;
        CREATE INDEX blocks_by_begin
            ON blocks (run_id, channel, first_milliseconds, last_milliseconds);
        CREATE INDEX blocks_by_end
            ON blocks (run_id, channel, last_milliseconds, first_milliseconds);
        CREATE INDEX blocks_by_number ON blocks (run_id, last_sequence, first_sequence);
        ALTER TABLE runs ADD COLUMN wide_from INTEGER;
        UPDATE runs SET wide_from = 2 + (
            SELECT max(number) FROM run_windows WHERE run_id = runs.id) / \(WideWindows.factor);
        CREATE TABLE wide_windows (
            run_id INTEGER NOT NULL,
            channel INTEGER NOT NULL,
            number INTEGER NOT NULL,
            count INTEGER NOT NULL,
            nulls INTEGER NOT NULL,
            min_coefficient INTEGER,
            min_exponent INTEGER,
            max_coefficient INTEGER,
            max_exponent INTEGER,
            mean REAL,
            deviation REAL,
            p50 REAL,
            p95 REAL,
            is_exact INTEGER NOT NULL,
            last_coefficient INTEGER,
            last_exponent INTEGER,
            last_reason INTEGER,
            hops INTEGER NOT NULL,
            PRIMARY KEY (run_id, channel, number)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE due_wide_windows (
            number INTEGER NOT NULL,
            run_id INTEGER NOT NULL,
            channel INTEGER NOT NULL,
            PRIMARY KEY (number, run_id)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX due_wide_windows_by_run ON due_wide_windows (run_id);
        """
}
