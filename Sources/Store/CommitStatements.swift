import Collector
import NearbyCore
import Telemetry

/// A run as the file knows it.
struct RunRow: Hashable {
    /// Means nothing outside of the file.
    var id: Int64
    /// What the windows of its boot lie by; nil while there are none.
    var windowOffset: Int64?
}

/// The statements of `Store.commit`, prepared once.
struct CommitStatements {
    private let database: Database
    private let windowShift: Int64
    private let upsertPeer: Statement
    private let upsertRun: Statement
    private let upsertChannel: Statement
    private let selectRun: Statement
    private let insertReading: Statement
    private let selectSettled: Statement
    private let updateSettled: Statement
    private let insertGap: Statement
    private let upsertClock: Statement

    /// - Parameter windowShift: the windows of a boot whose mapping moves by more have to be laid
    ///   anew.
    init(_ database: Database, windowShift: Duration) throws(StoreError) {
        self.database = database
        self.windowShift = max(0, windowShift.nanoseconds)
        upsertPeer = try database.prepare(
            """
            INSERT INTO peers (peer, name) VALUES (?1, ?2)
            ON CONFLICT (peer) DO UPDATE SET name = ?2
            """)
        upsertRun = try database.prepare(
            """
            INSERT INTO runs (peer_id, run, boot, birth, settled)
            SELECT id, ?2, ?3, ?4, x'' FROM peers WHERE peer = ?1
            ON CONFLICT (peer_id, run) DO UPDATE SET boot = ?3, birth = ?4
            """)
        upsertChannel = try database.prepare(
            """
            INSERT INTO channels (run_id, number, name, unit, scale) VALUES (?1, ?2, ?3, ?4, ?5)
            ON CONFLICT DO UPDATE SET name = ?3, unit = ?4, scale = ?5
            """)
        selectRun = try database.prepare(
            """
            SELECT runs.id, clocks.window_offset FROM runs
            JOIN peers ON peers.id = runs.peer_id LEFT JOIN clocks ON clocks.boot = runs.boot
            WHERE peers.peer = ?1 AND runs.run = ?2
            """)
        insertReading = try database.prepare(
            "INSERT OR IGNORE INTO readings VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")
        selectSettled = try database.prepare("SELECT settled FROM runs WHERE id = ?1")
        updateSettled = try database.prepare("UPDATE runs SET settled = ?2 WHERE id = ?1")
        insertGap = try database.prepare(
            """
            INSERT INTO gaps VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT DO UPDATE SET count = max(count, ?3), reason = ?4
            """)
        upsertClock = try database.prepare(
            """
            INSERT INTO clocks (boot, offset, rank, uncertainty) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT DO UPDATE SET offset = ?2, rank = ?3, uncertainty = ?4, window_offset =
                iif(?2 BETWEEN window_offset - ?5 AND window_offset + ?5, window_offset, NULL)
            """)
    }

    func row(of key: RunKey) throws(StoreError) -> RunRow? {
        selectRun.bind(1, key.peer.bytes).bind(2, key.run.storedBytes)
        guard try selectRun.step() else { return nil }
        defer { selectRun.reset() }
        return RunRow(id: selectRun.integer(0), windowOffset: selectRun.optionalInteger(1))
    }

    func upsert(_ clock: ClockMapping) throws(StoreError) {
        try upsertClock.bind(1, clock.boot.storedBytes)
            .bind(2, clock.clock.unixOffset.nanoseconds).bind(3, Int64(clock.clock.rank.rawValue))
            .bind(4, clock.uncertainty.nanoseconds).bind(5, windowShift).run()
    }

    func upsert(_ item: StoreBatch.PeerBirth) throws(StoreError) {
        let birth = item.birth
        try upsertPeer.bind(1, item.peer.bytes).bind(2, birth.node.name).run()
        try upsertRun.bind(1, item.peer.bytes).bind(2, birth.run.storedBytes)
            .bind(3, birth.boot.storedBytes).bind(4, TelemetryMessage.birth(birth).bytes).run()
        guard let run = try row(of: RunKey(peer: item.peer, run: birth.run)) else { return }
        for channel in birth.channels {
            try upsertChannel.bind(1, run.id).bind(2, Int64(channel.number))
                .bind(3, channel.name).bind(4, channel.unit.name).bind(5, Int64(channel.scale))
                .run()
        }
    }

    /// Returns whether it is new.
    func insert(_ reading: ReadingRow, run: RunRow, hops: UInt8) throws(StoreError) -> Bool {
        insertReading.bind(1, run.id).bind(2, reading.sequence).bind(3, Int64(reading.channel))
            .bind(4, reading.milliseconds).bind(8, Int64(hops))
        reading.outcome.bind(to: insertReading, first: 5)
        try insertReading.run()
        return database.changeCount > 0
    }

    /// Beside what is settled already; ranges that cannot be read are replaced.
    func settle(_ settled: NumberRanges, run: RunRow) throws(StoreError) {
        var all = settled
        selectSettled.bind(1, run.id)
        if try selectSettled.step() {
            if let known = try? NumberRanges(parsingStored: selectSettled.bytes(0)) {
                all.formUnion(known)
            }
            selectSettled.reset()
        }
        try updateSettled.bind(1, run.id).bind(2, all.storedBytes).run()
    }

    /// What lies beyond the signed numbers is cut off; nobody has counted so far.
    func insert(_ gap: Gap, run: RunRow) throws(StoreError) {
        guard let first = Int64(exactly: gap.range.lowerBound) else { return }
        let end = Int64(clamping: gap.range.upperBound)
        try insertGap.bind(1, run.id).bind(2, first).bind(3, end - first)
            .bind(4, Int64(gap.reason.rawValue)).run()
    }
}
