import Collector
import NearbyCore
import Telemetry

/// A run as the file knows it.
struct RunRow: Hashable {
    /// Means nothing outside of the file.
    var id: Int64
    var boot: BootID
}

/// The statements of `Store.commit`, prepared once.
struct CommitStatements {
    private let database: Database
    private let readings: ReadingTable
    private let upsertPeer: Statement
    private let upsertRun: Statement
    private let upsertChannel: Statement
    private let selectRun: Statement
    private let insertReading: Statement
    private let selectSettled: Statement
    private let updateSettled: Statement
    private let insertGap: Statement

    init(_ database: Database, _ readings: ReadingTable) throws(StoreError) {
        self.database = database
        self.readings = readings
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
            SELECT runs.id, runs.boot FROM runs JOIN peers ON peers.id = runs.peer_id
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
    }

    func row(of key: RunKey) throws(StoreError) -> RunRow? {
        selectRun.bind(1, key.peer.bytes).bind(2, key.run.storedBytes)
        guard try selectRun.step() else { return nil }
        defer { selectRun.reset() }
        guard let boot = BootID(stored: selectRun.bytes(1)) else { return nil }
        return RunRow(id: selectRun.integer(0), boot: boot)
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

    /// Beside what is settled already.
    func settle(_ settled: NumberRanges, run: RunRow) throws(StoreError) {
        try settle(settled, run: run.id)
    }

    func settle(_ settled: NumberRanges, run: Int64) throws(StoreError) {
        let all = try self.settled(of: run).union(settled)
        try updateSettled.bind(1, run).bind(2, all.storedBytes).run()
    }

    /// What lies beyond the signed numbers is cut off; nobody has counted so far. Of what was
    /// settled elsewhere only the numbers that this store knows nothing of.
    func insert(_ gap: Gap, run: RunRow) throws(StoreError) {
        guard gap.reason == .settledElsewhere else {
            return try insert(gap.range, gap.reason, run: run)
        }
        let settled = try settled(of: run.id)
        for range in settled.missing(in: gap.range) {
            try insert(range, gap.reason, run: run)
        }
    }

    private func insert(
        _ range: Range<UInt64>, _ reason: GapReason, run: RunRow
    ) throws(StoreError) {
        guard let first = Int64(exactly: range.lowerBound) else { return }
        let end = Int64(clamping: range.upperBound)
        try insertGap.bind(1, run.id).bind(2, first).bind(3, end - first)
            .bind(4, Int64(reason.rawValue)).run()
    }

    /// Where it cannot be read, what the store has of the run is settled, and written anew.
    func settled(of run: Int64) throws(StoreError) -> NumberRanges {
        selectSettled.bind(1, run)
        guard try selectSettled.step() else { return NumberRanges() }
        let known = try? NumberRanges(parsingStored: selectSettled.bytes(0))
        selectSettled.reset()
        if let known { return known }
        let stored = try readings.numbers(of: run)
        try updateSettled.bind(1, run).bind(2, stored.storedBytes).run()
        return stored
    }
}
