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
CREATE TABLE moved_windows (
    run_id INTEGER NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    cursor INTEGER,
    PRIMARY KEY (run_id, first, last)
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
    settled BLOB NOT NULL, undated_since INTEGER, latest_offset INTEGER,
    UNIQUE (peer_id, run)
) STRICT;
CREATE INDEX runs_by_boot ON runs (boot);
CREATE TABLE settings (
    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL
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
