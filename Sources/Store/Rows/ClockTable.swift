import Collector
import NearbyCore
import Telemetry

/// What is stored of the boots' clocks: what readings are dated by, and what windows lie by.
struct ClockTable {
    private let selectMappings: Statement
    private let selectLayout: Statement

    init(_ database: Database) throws(StoreError) {
        selectMappings = try database.prepare(
            """
            SELECT since, offset, rank, uncertainty, is_foreign FROM clocks
            WHERE boot = ?1 ORDER BY since
            """)
        selectLayout = try database.prepare(
            "SELECT since, offset FROM window_clocks WHERE boot = ?1 ORDER BY since")
    }

    func mappings(of boot: BootID) throws(StoreError) -> BootMappings {
        var mappings: [ClockMapping] = []
        selectMappings.bind(1, boot.storedBytes)
        while try selectMappings.step() {
            let rank = UInt8(exactly: selectMappings.integer(2)).flatMap(ClockRank.init) ?? .none
            mappings.append(
                ClockMapping(
                    boot: boot,
                    clock: ClockReading(
                        rank: rank, unixOffset: .nanoseconds(selectMappings.integer(1))),
                    uncertainty: .nanoseconds(max(0, selectMappings.integer(3))),
                    since: Instant(nanoseconds: selectMappings.integer(0)),
                    isForeign: selectMappings.integer(4) != 0))
        }
        return BootMappings(all: mappings)
    }

    /// Nil while the boot has no windows.
    func layout(of boot: BootID) throws(StoreError) -> Stretches? {
        var rows: [(since: Int64, offset: Int64)] = []
        selectLayout.bind(1, boot.storedBytes)
        while try selectLayout.step() {
            rows.append((selectLayout.integer(0), selectLayout.integer(1)))
        }
        return Stretches(rows)
    }
}

/// Takes new mappings into the tables, and notes which windows that moves.
struct ClockWriter {
    private let clocks: ClockTable
    private let moves: MovedWindows
    private let changes: ChangeLog
    private let width: Duration
    private let shift: Int64
    private let deleteMappings: Statement
    private let insertMapping: Statement
    private let deleteLayout: Statement
    private let insertLayout: Statement
    private let selectRuns: Statement

    init(
        _ database: Database, _ settings: Store.Settings, _ changes: ChangeLog,
        _ moves: MovedWindows
    ) throws(StoreError) {
        self.changes = changes
        clocks = try ClockTable(database)
        self.moves = moves
        width = settings.windowWidth
        shift = max(0, settings.windowShift.nanoseconds)
        deleteMappings = try database.prepare("DELETE FROM clocks WHERE boot = ?1 AND since >= ?2")
        insertMapping = try database.prepare(
            "INSERT INTO clocks VALUES (?1, ?2, ?3, ?4, ?5, ?6)")
        deleteLayout = try database.prepare("DELETE FROM window_clocks WHERE boot = ?1")
        insertLayout = try database.prepare("INSERT INTO window_clocks VALUES (?1, ?2, ?3)")
        selectRuns = try database.prepare("SELECT id FROM runs WHERE boot = ?1 ORDER BY id")
    }

    /// In this order. Windows follow what all of them come to, not each step on the way.
    func take(_ mappings: [ClockMapping]) throws(StoreError) {
        var rest = mappings
        while let boot = rest.first?.boot {
            let old = try clocks.mappings(of: boot)
            var new = old
            for mapping in rest where mapping.boot == boot { new.take(mapping) }
            rest.removeAll { $0.boot == boot }
            if new != old { try replace(old, by: new, boot) }
        }
    }

    private func replace(
        _ old: BootMappings, by new: BootMappings, _ boot: BootID
    ) throws(StoreError) {
        let kept = zip(old.all, new.all).prefix { $0 == $1 }.count
        if kept < old.all.count {
            try deleteMappings.bind(1, boot.storedBytes)
                .bind(2, old.all[kept].since.nanoseconds).run()
        }
        for mapping in new.all[kept...] {
            try insertMapping.bind(1, boot.storedBytes).bind(2, mapping.since.nanoseconds)
                .bind(3, mapping.clock.unixOffset.nanoseconds)
                .bind(4, Int64(mapping.clock.rank.rawValue))
                .bind(5, mapping.uncertainty.nanoseconds)
                .bind(6, mapping.isForeign ? 1 : 0).run()
        }
        let oldLayout = try clocks.layout(of: boot)
        guard let dating = new.stretches else { return }
        let layout = WindowLayout(oldLayout, dating: dating, shift: shift, width: width)
        guard layout.stretches != oldLayout else { return }
        try deleteLayout.bind(1, boot.storedBytes).run()
        for stretch in layout.stretches.all {
            try insertLayout.bind(1, boot.storedBytes).bind(2, stretch.since)
                .bind(3, stretch.offset).run()
        }
        try note(layout.moved, boot)
        try changes.add(layout.spans, of: boot, to: layout.stretches)
    }

    private func note(_ moved: [ClosedRange<Int64>], _ boot: BootID) throws(StoreError) {
        var runs: [Int64] = []
        selectRuns.bind(1, boot.storedBytes)
        while try selectRuns.step() { runs.append(selectRuns.integer(0)) }
        for run in runs { try moves.add(moved, of: run) }
    }
}
