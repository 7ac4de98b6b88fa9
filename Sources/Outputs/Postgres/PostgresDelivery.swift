/// The statements that bring a batch into the tables of a schema.
///
/// One transaction each: first the series, whose numbers are then known for as long as the
/// connection lasts; then the readings. Why it is done so: `PostgresSchema`.
public struct PostgresDelivery: Hashable, Sendable {
    private let name: String

    public init(_ schema: PostgresSchema) { name = schema.name }

    // MARK: Once a connection

    /// Where rows are copied to before they are inserted; seen by this connection only.
    public static let staging = [
        """
        CREATE TEMPORARY TABLE staged_series (
            number integer, peer text, run text, node text, board text, labels jsonb,
            channel text, unit text, scale smallint) ON COMMIT DELETE ROWS
        """,
        """
        CREATE TEMPORARY TABLE staged (
            run integer, sequence bigint, time timestamptz, channel integer, milliseconds bigint,
            value numeric, reason text, hops smallint, former timestamptz, is_ours boolean)
            ON COMMIT DELETE ROWS
        """,
    ]

    /// The collector's number; $1 is its PeerID.
    public var collector: String { "SELECT id FROM \(name).collectors WHERE peer = $1" }

    public var collectorInsertion: String {
        "INSERT INTO \(name).collectors (peer) VALUES ($1) ON CONFLICT DO NOTHING"
    }

    // MARK: Series

    public static let seriesCopy = """
        COPY staged_series (number, peer, run, node, board, labels, channel, unit, scale)
        FROM STDIN
        """

    /// What is new of peers, runs and channels, such as other names; in one order, so that two
    /// collectors wait for each other at most.
    /// - Parameter isCurrent: whether the names in them are those of now.
    public func seriesInsertions(isCurrent: Bool) -> [String] {
        let peers = """
            INSERT INTO \(name).peers (peer, name, board, labels)
            SELECT DISTINCT ON (s.peer) s.peer, s.node, s.board, s.labels FROM staged_series s
            WHERE NOT EXISTS (SELECT FROM \(name).peers p WHERE p.peer = s.peer)
            ORDER BY s.peer, s.number DESC ON CONFLICT DO NOTHING
            """
        let renamed = """
            UPDATE \(name).peers p SET name = s.node, board = s.board, labels = s.labels
            FROM (SELECT DISTINCT ON (peer) * FROM staged_series ORDER BY peer, number DESC) s
            WHERE p.peer = s.peer
                AND (p.name, p.board, p.labels) IS DISTINCT FROM (s.node, s.board, s.labels)
            """
        let runs = """
            INSERT INTO \(name).runs (peer, run, name, board, labels)
            SELECT DISTINCT ON (p.id, s.run) p.id, s.run, s.node, s.board, s.labels
            FROM staged_series s JOIN \(name).peers p ON p.peer = s.peer
            WHERE NOT EXISTS (
                SELECT FROM \(name).runs r WHERE r.peer = p.id AND r.run = s.run)
            ORDER BY p.id, s.run, s.number DESC ON CONFLICT DO NOTHING
            """
        let renamedRuns = """
            UPDATE \(name).runs r SET name = s.node, board = s.board, labels = s.labels
            FROM (SELECT DISTINCT ON (p.id, t.run) p.id, t.run, t.node, t.board, t.labels
                FROM staged_series t JOIN \(name).peers p ON p.peer = t.peer
                ORDER BY p.id, t.run, t.number DESC) s
            WHERE r.peer = s.id AND r.run = s.run
                AND (r.name, r.board, r.labels) IS DISTINCT FROM (s.node, s.board, s.labels)
            """
        let channels = """
            INSERT INTO \(name).channels (peer, name, unit, scale)
            SELECT DISTINCT ON (p.id, s.channel, s.unit) p.id, s.channel, s.unit, s.scale
            FROM staged_series s JOIN \(name).peers p ON p.peer = s.peer
            WHERE NOT EXISTS (
                SELECT FROM \(name).channels c
                WHERE c.peer = p.id AND c.name = s.channel AND c.unit = s.unit)
            ORDER BY p.id, s.channel, s.unit, s.number DESC ON CONFLICT DO NOTHING
            """
        return isCurrent
            ? [peers, renamed, runs, renamedRuns, channels] : [peers, runs, channels]
    }

    /// `number, run, channel`: what the series that were copied are called in the database.
    public var seriesNumbers: String {
        """
        SELECT s.number, r.id, c.id FROM staged_series s
        JOIN \(name).peers p ON p.peer = s.peer
        JOIN \(name).runs r ON r.peer = p.id AND r.run = s.run
        JOIN \(name).channels c ON c.peer = p.id AND c.name = s.channel AND c.unit = s.unit
        """
    }

    // MARK: Readings

    public static let readingsCopy = """
        COPY staged (run, sequence, time, channel, milliseconds, value, reason, hops) FROM STDIN
        """

    /// Until the end of the transaction no other collector inserts readings of these runs.
    public var runsLock: String {
        """
        SELECT 1 FROM \(name).runs WHERE id IN (SELECT run FROM staged)
        ORDER BY id FOR NO KEY UPDATE
        """
    }

    /// Between which times readings with the keys of the batch may be already: two columns, null if
    /// all are new.
    public var searchedTimes: String {
        """
        SELECT min(p.month)::timestamptz, (max(p.month) + INTERVAL '1 month')::timestamptz
        FROM \(name).spans p
        JOIN (SELECT run, min(sequence) AS first, max(sequence) AS last
            FROM staged GROUP BY run) s
        ON p.run = s.run AND p.first_sequence <= s.last AND p.last_sequence >= s.first
        """
    }

    /// Marks those that are there, and takes out those whose time was ours and is another now.
    /// - Parameters:
    ///   - begin: of `searchedTimes`, like `end`; in the statement itself, so that partitions
    ///     without them are not touched.
    ///   - collector: our number.
    public func search(from begin: String, to end: String, collector: Int) -> [String] {
        let within = "r.time >= '\(begin)' AND r.time < '\(end)'"
        return [
            """
            UPDATE staged s SET former = r.time, is_ours = r.collector = \(collector)
            FROM \(name).readings r
            WHERE r.run = s.run AND r.sequence = s.sequence AND \(within)
            """,
            """
            DELETE FROM \(name).readings r USING staged s
            WHERE s.is_ours AND s.former <> s.time AND r.run = s.run
                AND r.sequence = s.sequence AND r.time = s.former AND \(within)
            """,
        ]
    }

    public func insertions(collector: Int) -> [String] {
        [
            """
            INSERT INTO \(name).readings
                (run, sequence, time, channel, milliseconds, value, reason, hops, collector)
            SELECT run, sequence, time, channel, milliseconds, value, reason, hops, \(collector)
            FROM staged WHERE former IS NULL OR (is_ours AND former <> time)
            ON CONFLICT DO NOTHING
            """,
            """
            INSERT INTO \(name).spans AS p (run, month, first_sequence, last_sequence)
            SELECT run, date_trunc('month', time)::date, min(sequence), max(sequence)
            FROM staged WHERE former IS NULL OR (is_ours AND former <> time)
            GROUP BY 1, 2 ORDER BY 1, 2
            ON CONFLICT (run, month) DO UPDATE
            SET first_sequence = least(p.first_sequence, excluded.first_sequence),
                last_sequence = greatest(p.last_sequence, excluded.last_sequence)
            WHERE p.first_sequence > excluded.first_sequence
                OR p.last_sequence < excluded.last_sequence
            """,
        ]
    }
}
