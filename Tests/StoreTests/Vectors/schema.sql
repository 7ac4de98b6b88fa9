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
CREATE TABLE channels (
    run_id INTEGER NOT NULL,
    number INTEGER NOT NULL,
    name TEXT NOT NULL,
    unit TEXT NOT NULL,
    scale INTEGER NOT NULL,
    PRIMARY KEY (run_id, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE clocks (
    boot BLOB NOT NULL,
    since INTEGER NOT NULL,
    offset INTEGER NOT NULL,
    rank INTEGER NOT NULL,
    uncertainty INTEGER NOT NULL, is_foreign INTEGER NOT NULL DEFAULT 1,
    PRIMARY KEY (boot, since)
) STRICT, WITHOUT ROWID;
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
CREATE TABLE due_wide_windows (
    number INTEGER NOT NULL,
    run_id INTEGER NOT NULL,
    channel INTEGER NOT NULL,
    PRIMARY KEY (number, run_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX due_wide_windows_by_run ON due_wide_windows (run_id);
CREATE TABLE due_windows (
    number INTEGER NOT NULL,
    run_id INTEGER NOT NULL,
    PRIMARY KEY (number, run_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX due_windows_by_run ON due_windows (run_id);
CREATE TABLE gaps (
    run_id INTEGER NOT NULL,
    first INTEGER NOT NULL,
    count INTEGER NOT NULL,
    reason INTEGER NOT NULL,
    PRIMARY KEY (run_id, first)
) STRICT, WITHOUT ROWID;
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
CREATE TABLE moved_windows (
    run_id INTEGER NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    cursor INTEGER,
    PRIMARY KEY (run_id, first, last)
) STRICT, WITHOUT ROWID;
CREATE TABLE output_history (
    output TEXT NOT NULL,
    run_id INTEGER NOT NULL,
    ranges BLOB NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (output, run_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE peers (
    id INTEGER PRIMARY KEY,
    peer BLOB NOT NULL UNIQUE,
    name TEXT NOT NULL
) STRICT;
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
CREATE TABLE run_windows (
    run_id INTEGER NOT NULL,
    number INTEGER NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    received INTEGER NOT NULL,
    PRIMARY KEY (run_id, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE runs (
    id INTEGER PRIMARY KEY,
    peer_id INTEGER NOT NULL,
    run BLOB NOT NULL,
    boot BLOB NOT NULL,
    birth BLOB NOT NULL,
    settled BLOB NOT NULL, undated_since INTEGER, latest_offset INTEGER, wide_from INTEGER,
    UNIQUE (peer_id, run)
) STRICT;
CREATE INDEX runs_by_boot ON runs (boot);
CREATE TABLE settings (
    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE sqlite_sequence(name,seq);
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
CREATE TABLE window_clocks (
    boot BLOB NOT NULL,
    since INTEGER NOT NULL,
    offset INTEGER NOT NULL,
    PRIMARY KEY (boot, since)
) STRICT, WITHOUT ROWID;
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
