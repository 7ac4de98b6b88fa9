import NearbyCore

/// The round-trip time of a path and what follows from it (RFC 9002 §5, §6).
public struct RTTEstimator: Hashable, Sendable {
    /// Nil before the first sample.
    public private(set) var minimum: Duration?
    public private(set) var latest: Duration = initial
    public private(set) var smoothed: Duration = initial
    public private(set) var variation: Duration = initial / 2

    /// RFC 9002 §6.2.2.
    public static let initial: Duration = .milliseconds(333)
    /// The least that a timer can tell (RFC 9002 §6.1.2).
    public static let granularity: Duration = .milliseconds(1)

    public init() {}

    /// Takes one sample; `acknowledgementDelay` is the receiver's word and counts up to its
    /// promise.
    public mutating func add(sample: Duration, acknowledgementDelay: Duration) {
        latest = max(sample, .nanoseconds(1))
        guard let known = minimum else {
            minimum = latest
            smoothed = latest
            variation = latest / 2
            return
        }
        let least = min(known, latest)
        minimum = least
        let delay = min(max(.zero, acknowledgementDelay), Limits.acknowledgementDelayMax)
        let adjusted = latest >= least + delay ? latest - delay : latest
        let difference = smoothed > adjusted ? smoothed - adjusted : adjusted - smoothed
        variation = (variation * 3 + difference) / 4
        smoothed = (smoothed * 7 + adjusted) / 8
    }

    /// How long a segment may stay behind a later one that was acknowledged (RFC 9002 §6.1.2): 9/8.
    public var lossDelay: Duration { max(max(smoothed, latest) * 9 / 8, Self.granularity) }

    /// How long silence may last before a probe, after `count` probes in vain (RFC 9002 §6.2.1).
    ///
    /// We end the doubling at `Limits.probeTimeoutMax`, so that a path that came back is soon used.
    public func probeTimeout(afterProbes count: Int) -> Duration {
        let once = smoothed + max(variation * 4, Self.granularity) + Limits.acknowledgementDelayMax
        return min(once * (1 << min(max(0, count), 16)), max(once, Limits.probeTimeoutMax))
    }

    /// What losses must span to count as persistent congestion (RFC 9002 §7.6.1).
    public var persistentCongestion: Duration {
        (smoothed + max(variation * 4, Self.granularity) + Limits.acknowledgementDelayMax) * 3
    }
}

extension Limits {
    /// How long an acknowledgement may wait.
    public static let acknowledgementDelayMax: Duration = .milliseconds(25)
    /// Between two probes into silence, unless the path is slower still.
    public static let probeTimeoutMax: Duration = .seconds(10)
}
