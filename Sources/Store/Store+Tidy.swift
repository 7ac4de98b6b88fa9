import NearbyCore
import Telemetry

extension Store {
    /// What retention does about outputs that have not delivered what is too old.
    public struct Holds: Hashable, Sendable {
        /// Names of outputs for which readings are kept longer than they otherwise would be.
        public var held: Set<String> = []
        /// Those whose readings are deleted although they have not been delivered.
        public var lost: Set<String> = []

        public init() {}
    }

    /// What a call of `tidy` did.
    public struct TidyReport: Hashable, Sendable {
        /// Whether nothing is left to do for now.
        public var isDone = true
        /// Windows computed, all channels of a run counted as one.
        public var windowCount = 0
        var deletedReadingCount = 0
        public var holds = Holds()
        /// Lines about blocks of readings that cannot be read, each told once.
        public var damagedBlocks: [String] = []

        public init() {}
    }

    /// A bounded piece of the work that can wait: computes windows that are over, or that late
    /// readings or another mapping changed; deletes what is older than `Settings.keep`; packs what
    /// is older than an hour. One transaction. The store thread calls it after each commit, once a
    /// minute, and again at once while `isDone` is false and nothing is to be committed.
    ///
    /// - Parameters:
    ///   - now: our CLOCK_BOOTTIME.
    ///   - clock: what we know of UTC ourselves. Deleting needs at least `.network`.
    ///   - budget: rows to read or to delete, about: at worst a page or a block of readings more of
    ///     each kind of window. Ten readings of a block count as one row.
    public func tidy(
        now: Instant, clock: ClockReading, budget: Int = 5_000
    ) throws(StoreError) -> TidyReport {
        var report = TidyReport()
        let utc = (now + clock.unixOffset).nanoseconds
        try transaction { () throws(StoreError) in
            var left = budget
            try layWindows(&left)
            // While windows are laid anew, none that was begun lasts.
            let wideLeast = left > 0 ? budget / 8 : 0
            try computeWindows(before: utc, &left, &report)
            // Whatever else there is: no run's windows hold up all others, what is old goes, and
            // rows do not pile up.
            try share(wideLeast, of: &left) { left throws(StoreError) in
                try computeWideWindows(before: utc, &left)
            }
            try share(budget / 8, of: &left) { left throws(StoreError) in
                try delete(now: now, utc: utc, isRight: clock.rank >= .network, &left, &report)
            }
            try share(budget / 4, of: &left) { left throws(StoreError) in
                try packing.step(now: now, &left)
            }
            report.holds = retention.holds
            report.isDone = left > 0
        }
        report.damagedBlocks = readings.blocks.takeDiagnostics()
        return report
    }

    /// Bytes of the database that are in use, and that are free for what comes: the write-ahead log
    /// is not counted.
    public func byteCounts() throws(StoreError) -> (used: Int64, free: Int64) {
        let page = try database.integer("PRAGMA page_size") ?? 0
        let free = try database.integer("PRAGMA freelist_count") ?? 0
        let all = try database.integer("PRAGMA page_count") ?? 0
        return ((all - free) * page, free * page)
    }

    /// So much for `body` at least.
    private func share(
        _ least: Int, of left: inout Int, _ body: (inout Int) throws(StoreError) -> Void
    ) throws(StoreError) {
        var own = max(left, least)
        left -= own
        try body(&own)
        left += own
    }

    private func delete(
        now: Instant, utc: Int64, isRight: Bool, _ left: inout Int, _ report: inout TidyReport
    ) throws(StoreError) {
        try pruneChanges(&left)
        guard isRight else { return }
        let swept = try retention.sweep(
            database, readings, clocks, now: now, utc: utc, width: settings.windowWidth, &left)
        report.deletedReadingCount = swept.count
        for cut in swept.cuts {
            windows.deleted(before: cut.end, of: cut.run)
            wide.deleted(before: cut.end, of: cut.run)
        }
        try narrow.prune(now: now, utc: utc, width: width, &left)
    }

    private func layWindows(_ left: inout Int) throws(StoreError) {
        while left > 0, let moved = try moves.next() {
            // What windows lie by has changed.
            windows.forget()
            wide.forget()
            var grid: WindowGrid?
            if let boot = moved.boot { grid = try self.grid(of: boot) }
            try moves.lay(moved, grid, &left)
        }
    }

    private func computeWindows(
        before utc: Int64, _ left: inout Int, _ report: inout TidyReport
    ) throws(StoreError) {
        let time = utc.subtractingSaturating(settings.lateness.nanoseconds)
        let end = WindowGrid.number(at: time, width: width)
        let kept = try NarrowWindows.begin(database)
        // Windows of one time are of many boots.
        var grids: [BootID: WindowGrid] = [:]
        while left > 0, let due = try windows.nextDue(before: end) {
            if let boot = due.boot, grids[boot] == nil { grids[boot] = try grid(of: boot) }
            let isFinished = try windows.compute(
                due, due.boot.flatMap { grids[$0] }, isKept: due.number >= kept, &left)
            if isFinished { report.windowCount += 1 }
        }
    }

    private func computeWideWindows(before utc: Int64, _ left: inout Int) throws(StoreError) {
        let time = utc.subtractingSaturating(
            (settings.lateness + WideWindows.lateness).nanoseconds)
        let end = WindowGrid.number(at: time, width: width * WideWindows.factor)
        try wide.compute(before: end, &left) { boot throws(StoreError) in
            try clocks.layout(of: boot).map {
                WindowGrid(
                    width: settings.windowWidth, times: WideWindows.factor, stretches: $0)
            }
        }
    }

    private var width: Int64 { WindowGrid.widths.clamp(settings.windowWidth.nanoseconds) }
}
