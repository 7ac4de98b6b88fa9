import NearbyCore

/// Tells from round-trip times whether a queue of ours stands somewhere on the path.
///
/// A round lasts until eight acknowledgements of packets came that were sent since it began. Its
/// least time is compared with the least that the path ever showed: jitter makes single packets
/// late, a queue all of them. What jitter is left in the least of eight is allowed for by the
/// variation.
///
/// A queue of ours shrinks when the window does. Where brakes have no effect, the delay is not of
/// our making (a radio that gathers packets, a queue of others): it is tolerated from then on, as
/// long as it lasts, and the brakes are undone.
struct DelayBrake: Sendable {
    enum Finding: Equatable, Sendable {
        case clear
        /// The share of what is under way that fits without the queue: above 0, below 1.
        case queue(share: Double)
        /// The brakes so far changed nothing.
        case futile
        /// Long since the path was seen without a queue: it must run empty for a round.
        case measure
        /// That round is over.
        case measured
    }

    /// What the path takes without a queue.
    private var base: Duration?
    private var baseAt = Instant.zero
    /// What it takes besides, and not because of us.
    private var tolerance = Duration.zero
    private var roundStart = Instant.zero
    private var sampleCount = 0
    private var least: Duration?
    /// Brakes in a row, each without effect, and the round before them.
    private var futileCount = 0
    private var lastStanding: Duration?
    private var isMeasuring = false

    /// - Parameters:
    ///   - sample: without the receiver's delay.
    ///   - flight: bytes under way.
    mutating func add(
        _ sample: Duration, sentAt: Instant, variation: Duration, flight: Int, now: Instant
    ) -> Finding? {
        // A sixteenth above still shows that the queue runs empty now and then.
        if sample <= (base ?? sample) * 17 / 16 { baseAt = now }
        base = min(base ?? sample, sample)
        guard sentAt >= roundStart else { return nil }
        sampleCount += 1
        least = min(least ?? sample, sample)
        guard sampleCount >= Limits.delaySamplesMin, let standing = least, let base else {
            return nil
        }
        roundStart = now
        sampleCount = 0
        least = nil
        if isMeasuring { return endMeasuring(standing, now) }
        if now - baseAt > Limits.leastRoundTripAge {
            isMeasuring = true
            return .measure
        }
        return judge(standing, base, variation, flight)
    }

    private mutating func judge(
        _ standing: Duration, _ base: Duration, _ variation: Duration, _ flight: Int
    ) -> Finding {
        let excess = max(.zero, standing - base - tolerance)
        let part = Double(excess.nanoseconds) / Double(max(1, standing.nanoseconds))
        let queuedBytes = Double(flight) * part
        guard excess > base / 4 + variation,
            queuedBytes >= Double(Limits.queuedPacketsMin * Limits.messageBytesMax)
        else {
            futileCount = 0
            lastStanding = nil
            // What does not last is not tolerated for ever.
            tolerance -= max(.zero, base + tolerance - standing) / 8
            return .clear
        }
        futileCount = standing > (lastStanding ?? .seconds(3_600)) * 7 / 8 ? futileCount + 1 : 0
        lastStanding = standing
        guard futileCount >= Limits.futileBrakesMax else { return .queue(share: 1 - part) }
        tolerance = standing - base
        futileCount = 0
        lastStanding = nil
        return .futile
    }

    private mutating func endMeasuring(_ standing: Duration, _ now: Instant) -> Finding {
        isMeasuring = false
        base = standing
        baseAt = now
        tolerance = .zero
        lastStanding = nil
        futileCount = 0
        return .measured
    }
}
