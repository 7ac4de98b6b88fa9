import Collector
import NearbyCore
import Telemetry

/// The collector's durable store: births, readings, gaps and clock mappings in one SQLite file.
///
/// What `commit` returned from survives kill -9 and power cuts (WAL, synchronous=FULL). All calls
/// block on the disk, so they belong on one thread of their own; the type has no locks.
///
/// After an error the store can be used again: the failed call changed nothing, and the same batch
/// can be given once more. After `.damaged` the caller opens the path anew with `isDamaged`.
public final class Store {
    /// What was found, and what had to be done to open it.
    public struct Opened {
        public var store: Store
        /// In the order in which the store first heard of them.
        public var runs: [StoredRun]
        /// All stretches of every boot, ascending.
        public var clocks: [ClockMapping]
        /// Lines for the log: files that were set aside, rows that could not be read.
        public var diagnostics: [String]
        public var outputs = Store.Registered()
    }

    public struct Settings: Sendable {
        /// 1 ms to 1 day.
        public var windowWidth: Duration = .seconds(10)
        /// How long after its end a window is computed for the first time.
        public var lateness: Duration = .seconds(5)
        /// Windows are laid anew when their readings' dating moved by more than this. Mappings are
        /// refined all the time; what they then move by is no reason to read months of readings
        /// once more.
        var windowShift: Duration = .milliseconds(500)
        /// How long readings, windows and runs are kept; nil: for ever.
        public var keep: Duration?
        /// So many readings of one channel of a run in one commit, or more, go straight into
        /// blocks.
        var blockedAtOnce = Limits.blockedAtOnceMin
        /// Who follows what is committed.
        public var outputs: [OutputRegistration] = []

        public init() {}
    }

    let database: Database
    let settings: Settings
    private let statements: CommitStatements
    private let parts: PartWriter
    private let clockWriter: ClockWriter
    let readings: ReadingTable
    let clocks: ClockTable
    let windows: WindowTable
    let wide: WideWindows
    var narrow: NarrowWindows
    let moves: MovedWindows
    let changes: ChangeLog
    let cursors: CursorTable
    var retention: Retention
    var packing: Packing
    var mesh = MeshTable()
    private var hadLog = false
    /// Readings that no legal report holds (sequence 0 or above Int64.max, times before the boot)
    /// and that were left out.
    private(set) var illegalReadingCount = 0

    init(_ database: Database, _ settings: Settings) throws(StoreError) {
        self.database = database
        self.settings = settings
        readings = try ReadingTable(database)
        statements = try CommitStatements(database, readings)
        parts = PartWriter(readings, statements, blockedAtOnce: settings.blockedAtOnce)
        changes = try ChangeLog(database, readings)
        cursors = try CursorTable(database)
        clocks = try ClockTable(database)
        wide = try WideWindows(database, readings)
        moves = try MovedWindows(database, readings, wide)
        windows = try WindowTable(database, readings, wide)
        clockWriter = try ClockWriter(database, settings, changes, moves)
        narrow = try NarrowWindows(database)
        retention = Retention(keep: settings.keep)
        packing = try Packing(database, readings, statements)
    }

    /// Whether what is committed can be found again: false where the file, or the log beside it,
    /// was removed, moved or replaced. Then the caller opens the path anew.
    public func isInPlace() -> Bool { database.isInPlace(havingLog: &hadLog) }

    /// Makes the batch durable, or throws and leaves everything as it was. What is in the store
    /// already is passed over, so that a batch can be given again after any error.
    ///
    /// Returns what was left out, the rest being durable: runs that the store has no birth of, and
    /// what it cannot write. So nothing that one agent sends can keep others' readings out.
    ///
    /// - Parameters:
    ///   - progress: the outputs' cursors, kept with it.
    ///   - utc: ours, nanoseconds.
    @discardableResult
    public func commit(
        _ batch: StoreBatch, progress: [OutputProgress] = [], utc: Int64 = 0
    ) throws(StoreError) -> [StoreBatch.Refusal] {
        if batch.isEmpty, progress.isEmpty { return [] }
        var illegal = 0
        var refused = Refusals()
        changes.time = utc
        try transaction { () throws(StoreError) in
            for progress in progress { try cursors.save(progress) }
            try clockWriter.take(batch.clocks)
            for birth in batch.births {
                let key = RunKey(peer: birth.peer, run: birth.birth.run)
                try attempt(key, &refused) { () throws(StoreError) in
                    try statements.upsert(birth)
                }
            }
            for item in batch.gaps {
                let key = RunKey(peer: item.peer, run: item.gap.run)
                try insert(key, &refused) { run throws(StoreError) in
                    try statements.insert(item.gap, run: run)
                }
            }
            for part in batch.parts {
                try insert(part.key, &refused) { run throws(StoreError) in
                    illegal += try insert(part, of: run)
                }
            }
        }
        illegalReadingCount += illegal
        return refused.all
    }

    /// All of `body` or nothing.
    func transaction(_ body: () throws(StoreError) -> Void) throws(StoreError) {
        do throws(StoreError) {
            try database.transaction(body)
        } catch {
            readings.blocks.forget()
            windows.forget()
            wide.forget()
            throw error
        }
    }

    /// What a commit leaves out, one reason for each run.
    private struct Refusals {
        private(set) var all: [StoreBatch.Refusal] = []
        private var keys: Set<RunKey> = []

        func has(_ key: RunKey) -> Bool { keys.contains(key) }

        mutating func add(_ key: RunKey, _ reason: StoreBatch.Refusal.Reason) {
            guard keys.insert(key).inserted else { return }
            all.append(StoreBatch.Refusal(key: key, reason: reason))
        }
    }

    /// Nothing more is written of a run of which something cannot be: its settled numbers would
    /// tell of readings that are not there.
    private func attempt(
        _ key: RunKey, _ refused: inout Refusals, _ body: () throws(StoreError) -> Void
    ) throws(StoreError) {
        if refused.has(key) { return }
        if let error = try database.part(body) {
            refused.add(key, .unwritable(error.description))
        }
    }

    private func insert(
        _ key: RunKey, _ refused: inout Refusals, _ body: (RunRow) throws(StoreError) -> Void
    ) throws(StoreError) {
        if refused.has(key) { return }
        guard let run = try statements.row(of: key) else {
            return refused.add(key, .birthMissing)
        }
        try attempt(key, &refused) { () throws(StoreError) in try body(run) }
    }

    /// What the windows of a boot lie by; nil while nothing is known of its clock.
    func grid(of boot: BootID) throws(StoreError) -> WindowGrid? {
        try clocks.layout(of: boot).map { WindowGrid(width: settings.windowWidth, stretches: $0) }
    }

    /// Returns how many readings were left out.
    private func insert(
        _ part: StoreBatch.Part, of run: RunRow
    ) throws(StoreError) -> Int {
        let written = try parts.write(part, of: run)
        if !written.added.isEmpty, let grid = try grid(of: run.boot) {
            try windows.mark(written.added, of: run.id, grid)
        }
        try changes.add(written.added, of: run.id)
        // Only settled numbers are looked up in blocks, so all that was written is settled,
        // whatever the part says.
        var settled = part.settled
        let others = written.added.lazy.map { UInt64($0.sequence) }
            .filter { !part.settled.contains($0) }
        for number in others.sorted() { settled.insert(number..<number + 1) }
        try statements.settle(settled, run: run)
        packing.wrote(to: run.id)
        return written.illegalCount
    }
}
