import NearbyCore
import Telemetry

/// The channels of one run, as the windows see them.
struct RunSeries: Sendable {
    var birth: Birth
    var hops: UInt8
    var rank: ClockRank
    private(set) var channels = ChannelNumbers()
    /// In the order of `channels`.
    private(set) var series: [Series] = []
    private var missing: UInt64
    private var missingAtClose: UInt64 = 0

    init(_ delivery: Delivery) {
        birth = delivery.birth
        hops = delivery.hops
        rank = delivery.rank
        missing = delivery.missing
    }

    /// What became of a delivery's readings.
    struct Added {
        /// Channels that were new.
        var channels = 0
        /// Readings of channels for which there was no room.
        var refused = 0
        /// Readings that lie in no open window.
        var outside = 0
        /// When the newest that was taken was measured, on our clock.
        var newest: Instant?
    }

    /// - Parameters:
    ///   - room: how many more channels may be kept.
    ///   - windowNumber: the window that a time lies in.
    mutating func add(
        _ delivery: Delivery, room: Int, firstOpen: Int64, generator: inout SeededGenerator,
        windowNumber: (Instant) -> Int64
    ) -> Added {
        var added = Added()
        if birth.number != delivery.birth.number { birth = delivery.birth }
        hops = delivery.hops
        rank = delivery.rank
        missing = delivery.missing
        for reading in delivery.readings {
            let place: Int
            if let known = channels.place(of: reading.channel) {
                place = known
            } else if added.channels < room {
                place = channels.insert(reading.channel)
                series.insert(Series(), at: place)
                added.channels += 1
            } else {
                added.refused += 1
                continue
            }
            let time = delivery.eventTime(of: reading)
            let latest = Latest(outcome: reading.outcome, time: time, sequence: reading.sequence)
            let isInside = series[place].add(
                latest, window: windowNumber(time), firstOpen: firstOpen, generator: &generator)
            if !isInside { added.outside += 1 }
            added.newest = max(added.newest ?? time, time)
        }
        return added
    }

    /// Readings that went missing since the last window closed.
    var lostCount: UInt64 { missing > missingAtClose ? missing - missingAtClose : 0 }

    mutating func close(_ number: Int64, silentSince limit: Instant) {
        // A gap that is filled later lowers the level from which the next window counts.
        missingAtClose = missing
        for place in series.indices.reversed() {
            series[place].close(number)
            guard let last = series[place].last, last.time < limit else { continue }
            channels.remove(at: place)
            series.remove(at: place)
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
    /// At most `Limits.openWindowsMax`, and mostly one or two.
    private var open: [(number: Int64, accumulator: WindowAccumulator)] = []
    private(set) var lateCount = 0

    /// What lies in an open window.
    func accumulator(of window: Int64) -> WindowAccumulator {
        open.first { $0.number == window }?.accumulator ?? WindowAccumulator()
    }

    /// - Returns: whether the reading lies in an open window.
    mutating func add(
        _ latest: Latest, window: Int64, firstOpen: Int64, generator: inout SeededGenerator
    ) -> Bool {
        last = Latest.newer(last, latest)
        guard window >= firstOpen, window - firstOpen < Limits.openWindowsMax else {
            lateCount += 1
            if window < firstOpen { lastClosed = Latest.newer(lastClosed, latest) }
            return false
        }
        let known = open.firstIndex { $0.number == window }
        if known == nil { open.append((window, WindowAccumulator())) }
        open[known ?? open.count - 1].accumulator.add(latest, generator: &generator)
        return true
    }

    mutating func close(_ number: Int64) {
        if let last = accumulator(of: number).last {
            lastClosed = Latest.newer(lastClosed, last)
        }
        open.removeAll { $0.number == number }
        lateCount = 0
    }
}
