import NearbyCore
import Telemetry

extension Limits {
    /// Boots of one agent that a collector knows the clocks of; the oldest goes.
    static let clockBootsMax = 8
    /// Runs of one boot that are known by name; the oldest goes.
    static let clockRunsMax = 4
    /// Stretches of one boot with offsets of their own; beyond, every second one goes.
    static let clockSegmentsMax = 64
    /// No board is up for longer: ten years. What its clock shows beyond that is absurd.
    static let uptimeMax: Duration = .seconds(3_653 * 86_400)
    /// So far a reading's time may lie after the moment of its arrival.
    static let readingAheadMax: Duration = .seconds(3_600)
    /// A smaller move of a clock is no news.
    static let clockNews: Duration = .milliseconds(10)
}

/// What is known of the clock of one boot of an agent.
struct BootClock: Sendable {
    let peer: PeerID
    /// Its latest runs, and those that they name as the runs before them.
    private var runs: [RunID] = []
    private var previousRuns: [RunID] = []
    /// From arrivals, for as long as there is nothing better.
    var arrivals: ClockEstimate?
    /// The latest time of its own that it has shown.
    var newest = Instant.zero
    var track = OffsetTrack()
    /// The best-ranked of what it said of UTC.
    var announced: ClockReading?
    /// What it said of UTC last, seen from our clock.
    var candidate: ClockReference.Candidate?
    var published: Published?
    /// Whether people know that this clock is far from ours.
    var isOverruledTold = false

    init(peer: PeerID) { self.peer = peer }

    /// What was said last of this boot.
    struct Published: Equatable, Sendable {
        var mapping: ClockMapping
        var basis: Basis
    }

    /// What a mapping rests on, best last.
    enum Basis: Int, Comparable, Sendable {
        /// A time before which the clock must have begun: the smallest delay of an arrival, or the
        /// beginning of the agent's next boot.
        case bound
        /// The agent's own word about UTC.
        case announced
        /// The exchange of timestamps.
        case measured

        static func < (left: Basis, right: Basis) -> Bool { left.rawValue < right.rawValue }
    }

    mutating func record(_ birth: Birth) {
        Self.insert(birth.run, into: &runs)
        if let previous = birth.previous { Self.insert(previous.run, into: &previousRuns) }
        if let reading = birth.clock { record(announced: reading) }
    }

    /// Whether it came after the other, as far as births tell.
    func follows(_ other: BootClock) -> Bool {
        previousRuns.contains { other.runs.contains($0) }
    }

    private static func insert(_ run: RunID, into runs: inout [RunID]) {
        guard !runs.contains(run) else { return }
        if runs.count >= Limits.clockRunsMax { runs.removeFirst() }
        runs.append(run)
    }

    mutating func record(announced reading: ClockReading) {
        // Zero in a boot that lasted long is a few months off at most.
        let seconds = reading.unixOffset.nanoseconds / 1_000_000_000
        guard Limits.plausibleUnixSeconds.contains(seconds), reading.rank > .none else { return }
        if let announced, announced.rank > reading.rank { return }
        announced = reading
    }

    /// - Returns: whether the offset is measured, so that arrivals no longer matter.
    @discardableResult
    mutating func observe(newest time: Instant, arrival: Instant) -> Bool {
        let isMeasured = track.latest != nil
        guard time <= .zero + Limits.uptimeMax else { return isMeasured }
        newest = max(newest, time)
        if arrivals == nil {
            arrivals = ClockEstimate(sent: time, arrived: arrival)
        } else {
            arrivals?.observe(sent: time, arrived: arrival)
        }
        return isMeasured
    }
}

/// How an agent's clock drifted against ours in the course of a boot: stretches of its own time
/// with one offset each.
struct OffsetTrack: Sendable {
    struct Segment: Hashable, Sendable {
        /// The agent's clock.
        var since: Instant
        var offset: Duration
        var uncertainty: Duration
    }

    /// Ascending; the first serves for all that was before it.
    private(set) var segments: [Segment] = []
    private(set) var latest: ClockSample?

    mutating func record(_ sample: ClockSample, now: Instant) {
        latest = sample
        let uncertainty = sample.uncertainty(at: now)
        guard let last = segments.last else {
            let first = Segment(since: .zero, offset: sample.offset, uncertainty: uncertainty)
            return segments.append(first)
        }
        if uncertainty * 2 <= last.uncertainty {
            // It did not move; it is known better.
            segments[segments.count - 1].offset = sample.offset
            segments[segments.count - 1].uncertainty = uncertainty
            return
        }
        let moved = ClockReference.distance(sample.offset, last.offset)
        guard moved > max(uncertainty, Limits.clockNews) else { return }
        let since = max(last.since, now - sample.offset)
        segments.append(Segment(since: since, offset: sample.offset, uncertainty: uncertainty))
        if segments.count > Limits.clockSegmentsMax {
            segments = segments.indices.filter { $0 % 2 == 0 }.map { segments[$0] }
        }
    }
}
