import NearbyCore
import Telemetry

/// One device that advertises: what was heard of it, what is to be reported, and when it is silent.
///
/// A level that is heard is reported at once if the channel's last one is a period ago or more; one
/// that comes sooner waits, the newest replacing older ones, and is reported by the next sample
/// that is due. A state is reported at once when it changes, an event always: a door that is opened
/// and closed within a period was open.
package struct AdvertisedDevice: Sendable {
    /// Advertisements of one measurement are repeated within this time.
    static let repeatTime = Duration.seconds(4)
    /// Devices that only speak when something happens may be silent for so long.
    static let triggeredSilence = Duration.seconds(86_400)

    private struct AdvertisedChannel: Sendable {
        let name: String
        let unit: String
        /// When and what was reported last; nil: nothing, or a null because it was silent.
        var reported: (time: Instant, outcome: Outcome)?
        var waiting: (time: Instant, outcome: Outcome)?
    }

    package let name: String
    let period: Duration
    let silentAfter: Duration
    /// Of the last new measurement.
    package private(set) var measured: Instant?
    private var heard: Instant?
    /// When the counter of an earlier run was taken up.
    private var restored: Instant?
    private var last = SensorAdvertisement()
    private var channels: [AdvertisedChannel] = []

    package init(name: String, period: Duration, silentAfter: Duration) {
        self.name = name
        self.period = period
        self.silentAfter = silentAfter
    }

    /// The last counter that was believed under the device's key.
    package var counter: UInt32? { last.counter }

    /// Takes up the counter that an earlier run believed last: what is not above it is nothing new.
    package mutating func restore(counter: UInt32, now: Instant) {
        last.counter = counter
        restored = now
    }

    /// Takes what was heard; gives what is due. `signal` is in dBm, nil where it is not known.
    ///
    /// Throws where the counter is older than the last one, unless the device has been silent:
    /// then it may have a new battery, and counts anew.
    package mutating func receive(
        _ heard: SensorAdvertisement, signal: Int8?, now: Instant
    ) throws(AdvertisementFault) -> [Measurement] {
        if let counter = heard.counter, let before = last.counter, counter < before,
            !isGone(now, heard)
        {
            throw .replayed
        }
        let isSame = isRepetition(heard, now)
        let isRecent = self.heard.map { now - $0 < Self.repeatTime } ?? false
        var measurements: [Measurement] = []
        // What is proved by a counter is new once; of others nobody knows after a while.
        if !isSame || heard.counter == nil && !isRecent {
            for value in heard.values where value.kind != .event || !isSame {
                measurements += report(value, now)
            }
            measured = heard.values.isEmpty ? measured : now
            if !heard.values.isEmpty { last = heard }
        }
        if !heard.values.isEmpty {
            let outcome: Outcome =
                signal.map { .value(DecimalValue(coefficient: Int64($0))) } ?? .null(.absent)
            measurements += report(
                .init(kind: .level, name: "signal", unit: "dBm", outcome: outcome), now)
        }
        self.heard = now
        return measurements
    }

    /// What waits and is due, and nulls for all channels once nothing new has come for too long.
    /// Where there are more than `most`, the rest is reported by the next sample.
    package mutating func sample(_ now: Instant, most: Int) -> [Measurement] {
        guard isSilent(now) else { return due(now, most: most) }
        guard channels.count <= most else { return [] }
        for index in channels.indices {
            channels[index].reported = nil
            channels[index].waiting = nil
        }
        return channels.map {
            Measurement("\(name).\($0.name)", $0.unit, .null(.expired))
        }
    }

    /// Whether nothing new has come for so long that the last values no longer hold.
    package func isSilent(_ now: Instant) -> Bool {
        measured.map { now - $0 >= silenceLimit(for: last) } ?? false
    }

    /// Silent for so long that it may have a new battery; after a restart, since then.
    private func isGone(_ now: Instant, _ heard: SensorAdvertisement) -> Bool {
        if measured == nil, let restored { return now - restored >= silenceLimit(for: heard) }
        return isSilent(now)
    }

    private func silenceLimit(for advertisement: SensorAdvertisement) -> Duration {
        advertisement.isTriggered ? max(silentAfter, Self.triggeredSilence) : silentAfter
    }

    private func isRepetition(_ heard: SensorAdvertisement, _ now: Instant) -> Bool {
        if measured != nil || restored != nil, let counter = heard.counter {
            return counter == last.counter
        }
        guard measured != nil else { return false }
        if let sequence = heard.sequence { return sequence == last.sequence }
        return heard.values == last.values
            && (self.heard.map { now - $0 < Self.repeatTime } ?? false)
    }

    // MARK: Channels

    private mutating func report(_ value: SensorAdvertisement.Value, _ now: Instant)
        -> [Measurement]
    {
        guard let index = place(of: value) else { return [] }
        let reported = channels[index].reported
        let isDue =
            switch value.kind {
            case .event: true
            case .state: reported?.outcome != value.outcome || isDue(reported?.time, now)
            case .level: isDue(reported?.time, now)
            }
        channels[index].waiting = (now, value.outcome)
        return isDue ? [takeWaiting(index)].compactMap { $0 } : []
    }

    private func isDue(_ reported: Instant?, _ now: Instant) -> Bool {
        reported.map { now - $0 >= period } ?? true
    }

    private mutating func due(_ now: Instant, most: Int) -> [Measurement] {
        var measurements: [Measurement] = []
        for index in channels.indices where measurements.count < most {
            guard isDue(channels[index].reported?.time, now), let due = takeWaiting(index) else {
                continue
            }
            measurements.append(due)
        }
        return measurements
    }

    private mutating func takeWaiting(_ index: Int) -> Measurement? {
        guard let waiting = channels[index].waiting else { return nil }
        channels[index].waiting = nil
        channels[index].reported = waiting
        let channel = channels[index]
        return Measurement(
            "\(name).\(channel.name)", channel.unit, waiting.outcome, at: waiting.time)
    }

    /// Nil where there are too many.
    private mutating func place(of value: SensorAdvertisement.Value) -> Int? {
        if let index = channels.firstIndex(where: { $0.name == value.name }) { return index }
        guard channels.count < Limits.channelsPerAdvertiserMax else { return nil }
        channels.append(AdvertisedChannel(name: value.name, unit: value.unit))
        return channels.count - 1
    }
}

extension Limits {
    /// Channels that one advertiser may give.
    static let channelsPerAdvertiserMax = 32
    /// Advertisers that are known at a time where all are taken.
    public static let advertisersMax = 32
}
