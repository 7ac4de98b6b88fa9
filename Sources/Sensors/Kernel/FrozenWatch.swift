import NearbyCore
import Sampling
import Telemetry

/// Since when a device has been saying the same.
///
/// A device is frozen when none of its quantities has moved for the time that it may rest: one that
/// measures temperature and humidity has to stand still in both. What cannot be read says nothing
/// either way. At most `Limits.kernelDevicesMax` are watched; those that come later never freeze.
struct FrozenWatch: Sendable {
    private struct Entry: Sendable {
        var values: [String: DecimalValue]
        var since: Instant
    }

    private var entries: [String: Entry] = [:]

    /// Takes note of a look at a device. `limit` nil: it may say the same for ever.
    mutating func isFrozen(
        _ device: String, _ measurements: [Measurement], limit: Duration?, now: Instant
    ) -> Bool {
        guard let limit else {
            entries[device] = nil
            return false
        }
        let isNew = entries[device] == nil
        if isNew, entries.count >= Limits.kernelDevicesMax { return false }
        var entry = entries[device] ?? Entry(values: [:], since: now)
        for measurement in measurements {
            guard let value = measurement.outcome.value,
                entry.values[measurement.channel] != value
            else { continue }
            entry.values[measurement.channel] = value
            entry.since = now
        }
        entries[device] = entry
        return now - entry.since >= limit
    }
}
