import NearbyCore
import Telemetry

/// The channels of one run, as the windows see them.
struct RunSeries: Sendable {
    var birth: Birth
    var hops: UInt8
    var rank: ClockRank
    var series: [UInt16: Series] = [:]
    private var missing: UInt64
    private var missingAtClose: UInt64 = 0

    init(_ delivery: Delivery) {
        birth = delivery.birth
        hops = delivery.hops
        rank = delivery.rank
        missing = delivery.missing
    }

    mutating func record(_ delivery: Delivery) {
        if birth.number != delivery.birth.number { birth = delivery.birth }
        hops = delivery.hops
        rank = delivery.rank
        missing = delivery.missing
    }

    /// Readings that went missing since the last window closed.
    var lostCount: UInt64 { missing > missingAtClose ? missing - missingAtClose : 0 }

    mutating func close(_ number: Int64, silentSince limit: Instant) {
        // A gap that is filled later lowers the level from which the next window counts.
        missingAtClose = missing
        for channel in series.keys.sorted() {
            series[channel]?.close(number)
            if let last = series[channel]?.last, last.time < limit { series[channel] = nil }
        }
    }
}

/// A reading among others of its channel: by time, and by sequence number where times are equal.
package struct Latest: Sendable {
    package var outcome: Outcome
    package var time: Instant
    package var sequence: UInt64

    package init(outcome: Outcome, time: Instant, sequence: UInt64) {
        self.outcome = outcome
        self.time = time
        self.sequence = sequence
    }

    /// The newer of the two.
    static func newer(_ held: Latest?, _ other: Latest) -> Latest {
        guard let held else { return other }
        return (held.time, held.sequence) < (other.time, other.sequence) ? other : held
    }
}

/// One channel of one run.
struct Series: Sendable {
    private(set) var last: Latest?
    /// The newest of those that lie in no open window.
    private(set) var lastClosed: Latest?
    /// By window number; at most `Limits.openWindowsMax`.
    private(set) var open: [Int64: WindowAccumulator] = [:]
    private(set) var lateCount = 0

    /// Returns whether the reading lies in an open window.
    mutating func add(
        _ reading: Reading, time: Instant, window: Int64, firstOpen: Int64,
        generator: inout SeededGenerator
    ) -> Bool {
        let latest = Latest(outcome: reading.outcome, time: time, sequence: reading.sequence)
        last = Latest.newer(last, latest)
        guard window >= firstOpen, window - firstOpen < Limits.openWindowsMax else {
            lateCount += 1
            if window < firstOpen { lastClosed = Latest.newer(lastClosed, latest) }
            return false
        }
        open[window, default: WindowAccumulator()].add(latest, generator: &generator)
        return true
    }

    mutating func close(_ number: Int64) {
        if let last = open.removeValue(forKey: number)?.last {
            lastClosed = Latest.newer(lastClosed, last)
        }
        lateCount = 0
    }
}
