import NearbyCore
import Telemetry

/// Of what comes at any time, one measurement of each channel a period: the newest when the period
/// ends, or else the first that comes after it. What stays away becomes null.
package struct NewestReadings: Sendable {
    private struct Entry: Sendable {
        let channel: ExpectedChannel
        /// When something came.
        var last: Instant?
        /// What came since the last was given.
        var newest: Measurement?
        /// The last period ended without a measurement: the next is given at once.
        var isOwed = true
    }

    /// Measurements of channels beyond `Limits.channelsPerSensorMax`.
    package private(set) var dropCount = 0
    private let expiry: Duration
    private let expected: [ExpectedChannel]
    private let areCertain: Bool
    private var entries: [Entry]
    private var began = Instant.zero

    /// `areCertain`: the expected channels will come; otherwise they stand in until others do.
    package init(expected: [ExpectedChannel], areCertain: Bool, expiry: Duration) {
        self.expected = expected
        self.areCertain = areCertain
        self.expiry = expiry
        entries = expected.map { Entry(channel: $0) }
    }

    /// The device was opened: from now on something can come.
    package mutating func begin(_ now: Instant) {
        began = now
        for index in entries.indices {
            entries[index].last = nil
            entries[index].newest = nil
            entries[index].isOwed = true
        }
    }

    /// Takes over what has come, and gives what was waited for.
    package mutating func record(_ measurements: [Measurement], _ now: Instant) -> [Measurement] {
        if !areCertain, !measurements.isEmpty, entries.map(\.channel) == expected {
            entries.removeAll { $0.last == nil }
        }
        return measurements.compactMap { measurement in
            guard let index = place(of: measurement) else { return nil }
            var timed = measurement
            timed.time = timed.time ?? now
            entries[index].last = now
            entries[index].newest = entries[index].isOwed ? nil : timed
            defer { entries[index].isOwed = false }
            return entries[index].isOwed ? timed : nil
        }
    }

    /// The end of a period. `reason` is why nothing came, if that is known better than here.
    package mutating func sample(_ now: Instant, reason: NullReason?) -> [Measurement] {
        entries.indices.compactMap { index in
            let entry = entries[index]
            entries[index].newest = nil
            entries[index].isOwed = entry.newest == nil
            if let newest = entry.newest { return newest }
            guard now - (entry.last ?? began) > expiry else { return nil }
            return entry.channel.null(reason ?? (entry.last == nil ? .timeout : .expired))
        }
    }

    /// A null for each channel: there is no device.
    package func nulls(_ reason: NullReason) -> [Measurement] {
        entries.map { $0.channel.null(reason) }
    }

    private mutating func place(of measurement: Measurement) -> Int? {
        if let index = entries.firstIndex(where: { $0.channel.name == measurement.channel }) {
            return index
        }
        guard entries.count < Limits.channelsPerSensorMax else {
            dropCount &+= 1
            return nil
        }
        entries.append(Entry(channel: ExpectedChannel(measurement.channel, measurement.unit)))
        return entries.count - 1
    }
}
