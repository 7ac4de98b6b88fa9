import Telemetry

/// A month in UTC.
public struct PostgresMonth: Hashable, Comparable, Sendable {
    /// Since year 0: year × 12 + month − 1.
    let index: Int64

    public init(year: Int64, month: Int64) { index = year * 12 + month - 1 }

    private init(index: Int64) { self.index = index }

    /// - Parameter utc: nanoseconds since 1970.
    public init(containing utc: Int64) {
        let day = CivilTime(utc).day
        self.init(year: day.year, month: day.month)
    }

    public var next: PostgresMonth { PostgresMonth(index: index + 1) }

    public static func < (left: PostgresMonth, right: PostgresMonth) -> Bool {
        left.index < right.index
    }

    /// `2026_11`.
    public var suffix: String { text(between: "_") }

    /// Its first moment, as PostgreSQL reads it.
    var begin: String { text(between: "-") + "-01 00:00:00+00" }

    private func text(between separator: String) -> String {
        (index / 12).padded(to: 4) + separator + (index % 12 + 1).padded(to: 2)
    }
}

/// Which partitions there are to be. Readings of other months go into `readings_other`, so that no
/// clock that runs wild makes thousands of tables.
public enum PostgresMonths {
    /// There was no Rivulet before.
    static let first = PostgresMonth(year: 2024, month: 1)

    /// Months of these times that get a partition, and always this month and the next.
    /// - Parameter now: nanoseconds since 1970, the server's clock.
    public static func needed(_ times: some Sequence<Int64>, now: Int64) -> [PostgresMonth] {
        let current = PostgresMonth(containing: now)
        var months: Set<PostgresMonth> = [current, current.next]
        for time in times {
            let month = PostgresMonth(containing: time)
            if month >= first, month <= current.next { months.insert(month) }
        }
        return months.sorted()
    }
}

extension PostgresSchema {
    /// The suffixes of the partitions that there are, a row each; none where we do not make them
    /// (a hypertable makes its own).
    public var partitions: String {
        """
        SELECT substr(c.relname, 10) FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = '\(name).readings'::regclass
        """
    }

    /// `p` if we make the partitions.
    public var kindOfReadings: String {
        "SELECT relkind FROM pg_class WHERE oid = '\(name).readings'::regclass"
    }

    /// Whether there is a table for the month.
    public func presence(of month: PostgresMonth) -> String {
        "SELECT to_regclass('\(name).readings_\(month.suffix)') IS NOT NULL"
    }

    /// In a transaction. What of the month has gone to `readings_other` moves.
    public func creation(of month: PostgresMonth) -> [String] {
        let partition = "\(name).readings_\(month.suffix)"
        return [
            "CREATE TABLE \(partition) (LIKE \(name).readings INCLUDING ALL)",
            """
            WITH moved AS (DELETE FROM \(name).readings_other
                WHERE time >= '\(month.begin)' AND time < '\(month.next.begin)' RETURNING *)
            INSERT INTO \(partition) SELECT * FROM moved
            """,
            """
            ALTER TABLE \(name).readings ATTACH PARTITION \(partition)
                FOR VALUES FROM ('\(month.begin)') TO ('\(month.next.begin)')
            """,
        ]
    }
}
