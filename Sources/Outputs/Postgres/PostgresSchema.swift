/// The tables in PostgreSQL, and how older ones become these.
///
/// How each reading is there exactly once. Partitions are by month of `time`, so that queries touch
/// the months that they ask for and old months can be dropped. A primary key has to hold `time`
/// then, but two collectors map a board's clock a little differently, and a run whose clock was
/// known wrongly is dated anew. So (run, sequence) is made unique by the insertion itself, see
/// `PostgresDelivery`: the rows in `runs` are locked, `spans` says in which months the run has
/// which sequence numbers, and only those are searched. New readings lie behind all of them and
/// cost no search. A fixed time for each reading as partition key would need none of this, but
/// would put readings with a corrected clock into wrong months and wrong hours; a table of all keys
/// beside the partitions would be larger than they are.
///
/// Whoever inserts a reading owns its time (`collector`): only he corrects it.
public struct PostgresSchema: Hashable, Sendable {
    /// What this program writes. Greater in the database: a newer program made it.
    public static let version = 2

    /// In quotation marks.
    let name: String
    private let plainName: String

    /// - Parameter name: a–z, 0–9 and _.
    public init(_ name: String) {
        plainName = name
        self.name = "\"" + name + "\""
    }

    /// Whoever holds it in a transaction changes tables; for all collectors of the schema.
    public var lock: String {
        "SELECT pg_advisory_xact_lock(1919514229, hashtext('\(plainName)'))"
    }

    /// Whether there is the schema, and its table of versions; two columns.
    public var presence: String {
        """
        SELECT to_regnamespace('\(name)') IS NOT NULL, to_regclass('\(name).version') IS NOT NULL
        """
    }

    public var creation: String { "CREATE SCHEMA \(name)" }

    public var currentVersion: String { "SELECT coalesce(max(number), 0) FROM \(name).version" }

    /// The schema of TimescaleDB's functions, quoted; no row without the extension.
    public static let timescale =
        "SELECT quote_ident(extnamespace::regnamespace::text) FROM pg_extension "
        + "WHERE extname = 'timescaledb'"

    /// What makes the version out of the one before it.
    /// - Parameters:
    ///   - version: 1…`version`.
    ///   - timescale: the schema of its functions; nil: plain partitions.
    public func migration(to version: Int, timescale: String?) -> [String] {
        let steps: [String] =
            switch version {
            case 1:
                tables + [readings(isPlain: timescale == nil)] + (timescale.map(hypertable) ?? [])
            case 2: (timescale.map(continuousHours) ?? [plainHours]) + views
            default: []
            }
        return steps + ["INSERT INTO \(name).version (number) VALUES (\(version))"]
    }

    private var tables: [String] {
        [
            """
            CREATE TABLE IF NOT EXISTS \(name).version (
                number integer PRIMARY KEY, since timestamptz NOT NULL DEFAULT now())
            """,
            """
            CREATE TABLE \(name).collectors (
                id smallint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, peer text NOT NULL UNIQUE)
            """,
            """
            CREATE TABLE \(name).peers (
                id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, peer text NOT NULL UNIQUE,
                name text NOT NULL, board text NOT NULL, labels jsonb NOT NULL)
            """,
            """
            CREATE TABLE \(name).runs (
                id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                peer integer NOT NULL REFERENCES \(name).peers, run text NOT NULL,
                name text NOT NULL, board text NOT NULL, labels jsonb NOT NULL,
                UNIQUE (peer, run))
            """,
            """
            CREATE TABLE \(name).channels (
                id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                peer integer NOT NULL REFERENCES \(name).peers, name text NOT NULL,
                unit text NOT NULL, scale smallint NOT NULL, UNIQUE (peer, name, unit))
            """,
            """
            CREATE TABLE \(name).spans (
                run integer NOT NULL REFERENCES \(name).runs, month date NOT NULL,
                first_sequence bigint NOT NULL, last_sequence bigint NOT NULL,
                PRIMARY KEY (run, month))
            """,
        ]
    }

    /// Without foreign keys: they would cost more than the insertion, and rows of `runs` and
    /// `channels` are never deleted by us.
    private func readings(isPlain: Bool) -> String {
        """
        CREATE TABLE \(name).readings (
            run integer NOT NULL, sequence bigint NOT NULL, time timestamptz NOT NULL,
            channel integer NOT NULL, milliseconds bigint NOT NULL, value numeric, reason text,
            hops smallint NOT NULL, collector smallint NOT NULL,
            PRIMARY KEY (run, sequence, time))\(isPlain ? " PARTITION BY RANGE (time)" : "");
        CREATE INDEX readings_channel_time ON \(name).readings (channel, time)
            \(isPlain
                ? ";CREATE TABLE \(name).readings_other PARTITION OF \(name).readings DEFAULT" : "")
        """
    }

    private func hypertable(_ functions: String) -> [String] {
        [
            """
            SELECT \(functions).create_hypertable('\(name).readings', 'time',
                chunk_time_interval => INTERVAL '7 days', create_default_indexes => false)
            """
        ]
    }

    /// The same columns as `plainHours`. The last three hours are computed when they are asked
    /// for; what arrives later than a month after it was measured, `refresh_continuous_aggregate`
    /// brings in.
    private func continuousHours(_ functions: String) -> [String] {
        [
            """
            CREATE MATERIALIZED VIEW \(name).channel_hours
            WITH (timescaledb.continuous, timescaledb.materialized_only = false) AS
            SELECT \(functions).time_bucket(INTERVAL '1 hour', time) AS hour, channel,
                count(*) AS readings, count(value) AS values, avg(value) AS mean,
                min(value) AS minimum, max(value) AS maximum
            FROM \(name).readings GROUP BY 1, 2 WITH NO DATA
            """,
            """
            SELECT \(functions).add_continuous_aggregate_policy('\(name).channel_hours',
                start_offset => INTERVAL '31 days', end_offset => INTERVAL '3 hours',
                schedule_interval => INTERVAL '1 hour')
            """,
        ]
    }

    private var plainHours: String {
        """
        CREATE VIEW \(name).channel_hours AS
        SELECT date_trunc('hour', time, 'UTC') AS hour, channel,
            count(*) AS readings, count(value) AS values, avg(value) AS mean,
            min(value) AS minimum, max(value) AS maximum
        FROM \(name).readings GROUP BY 1, 2
        """
    }

    /// With names, for people and for Grafana.
    private var views: [String] {
        [
            """
            CREATE VIEW \(name).named_readings AS
            SELECT r.time, n.name AS node, c.name AS channel, r.value, c.unit, r.reason, r.hops,
                n.board, n.labels, p.peer, n.run, r.sequence, r.milliseconds,
                k.peer AS collector
            FROM \(name).readings r
            JOIN \(name).channels c ON c.id = r.channel
            JOIN \(name).runs n ON n.id = r.run
            JOIN \(name).peers p ON p.id = n.peer
            JOIN \(name).collectors k ON k.id = r.collector
            """,
            """
            CREATE VIEW \(name).named_hours AS
            SELECT h.hour, p.name AS node, c.name AS channel, h.readings, h.values, h.mean,
                h.minimum, h.maximum, c.unit, p.board, p.labels, p.peer
            FROM \(name).channel_hours h
            JOIN \(name).channels c ON c.id = h.channel
            JOIN \(name).peers p ON p.id = c.peer
            """,
        ]
    }
}
