import NearbyCore

/// What a sweep of `Retention` does, out of what the store knows of its runs: a pure function of
/// its values.
///
/// The limit moves to `keep` before now, but for each peer at most to a day after its oldest
/// reading; what is older goes. Readings go by what dates them (`Run.dating`). Those of other runs
/// go by when they came: the newest of a run is here now, so much at least is its age, and with it
/// that of all before it. And they go not before a right clock has known of their run for as long
/// as they shall be kept.
struct RetentionPlan: Hashable {
    /// A run that has readings.
    struct Run: Hashable {
        var id: Int64
        var peerID: Int64
        /// Since when a right clock has known of it, UTC nanoseconds.
        var knownSince: Int64
        /// UTC less the board's clock is at most this, as sweeps before this one found.
        var latestOffset: Int64?
        /// Of its readings, milliseconds of the board's clock.
        var oldest: Int64
        var newest: Int64
        /// How the board's clock leads to UTC; nil unless it is founded on our own right clock.
        var dating: Stretches?
        /// What its windows lie by; nil while it has none.
        var windows: Stretches?
    }

    /// What goes of a run.
    struct Cut: Hashable {
        var run: Int64
        /// Readings before this go, milliseconds of the board's clock.
        var end: Int64
        /// Windows before this go.
        var endWindow: Int64
    }

    /// What is known from now on of a run that nothing dates.
    struct Bound: Hashable {
        var run: Int64
        /// As `Run.latestOffset`.
        var latestOffset: Int64
    }

    /// In the order in which they are carried out: the newest run first.
    private(set) var cuts: [Cut] = []
    /// Only those that change.
    private(set) var bounds: [Bound] = []

    static let interval: Duration = .seconds(3_600)
    /// What a sweep takes at most of a peer, and lowers a bound by.
    static let step: Duration = .seconds(86_400)

    /// - Parameters:
    ///   - runs: oldest first.
    ///   - utc: ours, which is right; nanoseconds.
    ///   - width: of windows.
    init(_ runs: [Run], keep: Duration, utc: Int64, width: Duration) {
        let target = utc.subtractingSaturating(keep.nanoseconds)
        var dated: [(run: Run, dating: Stretches)] = []
        for run in runs {
            if let dating = run.dating {
                dated.append((run, dating))
                continue
            }
            let offset = Self.latestOffset(of: run, utc: utc)
            if offset != run.latestOffset {
                bounds.append(Bound(run: run.id, latestOffset: offset))
            }
            if run.knownSince <= target, let dating = Stretches([(0, offset)]) {
                dated.append((run, dating))
            }
        }
        var oldest: [Int64: Int64] = [:]
        for (run, dating) in dated {
            let time = dating.utc(run.oldest)
            oldest[run.peerID] = min(oldest[run.peerID] ?? .max, time)
        }
        cuts = dated.reversed().map { run, dating in
            let first = oldest[run.peerID] ?? .max
            let limit = min(target, first.addingSaturating(Self.step.nanoseconds))
            return Self.cut(run, end: dating.firstMillisecond(notBefore: limit), width: width)
        }
    }

    /// When the next sweep begins; nil: now. The hour is counted by our monotonic clock, and over
    /// restarts by UTC.
    ///
    /// - Parameter last: when the last one began, UTC nanoseconds; nil: there was none.
    static func start(after last: Int64?, now: Instant, utc: Int64) -> Instant? {
        guard let last else { return nil }
        let past = utc.subtractingSaturating(last)
        if past >= interval.nanoseconds { return nil }
        return now + interval - .nanoseconds(max(0, past))
    }

    /// What a sweep lowers it by is bounded as well, for our own clock may be wrong for an hour.
    private static func latestOffset(of run: Run, utc: Int64) -> Int64 {
        let (nanoseconds, overflow) = run.newest.multipliedReportingOverflow(by: 1_000_000)
        let seen = utc.subtractingSaturating(overflow ? .max : nanoseconds)
        guard let known = run.latestOffset else { return seen }
        return min(known, max(seen, known.subtractingSaturating(step.nanoseconds)))
    }

    private static func cut(_ run: Run, end: Int64, width: Duration) -> Cut {
        let grid = run.windows.map { WindowGrid(width: width, stretches: $0) }
        return Cut(run: run.id, end: end, endWindow: grid?.lowestNumber(from: end) ?? .min)
    }
}
