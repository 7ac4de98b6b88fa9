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
        /// Perhaps a queue; the next round tells.
        case suspicion
        /// Bytes that can be under way without the queue.
        case queue(fitting: Int)
        /// The brakes so far changed nothing.
        case futile
    }

    /// What the path takes without a queue.
    private var base: Duration?
    /// What it takes besides, and not because of us.
    private var tolerance = Duration.zero
    private var roundStart = Instant.zero
    /// Bytes under way when the packet left that had the least time.
    private var flight = 0
    private var sampleCount = 0
    private var least: Duration?
    private var isSuspected = false
    private var response = DelayResponse()
    private var hasBraked = false

    /// Takes a round-trip time; at the end of a round says what it found.
    ///
    /// - Parameters:
    ///   - sample: without the receiver's delay.
    ///   - flight: bytes under way when the packet left.
    ///   - burst: bytes that leave at once, and queue for a moment.
    mutating func add(
        _ sample: Duration, sentAt: Instant, flight: Int, burst: Int, variation: Duration,
        now: Instant
    ) -> Finding? {
        base = min(base ?? sample, sample)
        guard sentAt >= roundStart else { return nil }
        sampleCount += 1
        if sample <= least ?? sample {
            least = sample
            self.flight = flight
        }
        guard sampleCount >= Limits.delaySamplesMin, let standing = least, let base else {
            return nil
        }
        sampleCount = 0
        least = nil
        // In slow start a round trip is too long a time: the window doubles in it.
        if hasBraked { roundStart = now }
        let finding = judge(standing, base, variation, burst)
        if case .queue = finding { roundStart = now }
        return finding
    }

    private mutating func judge(
        _ standing: Duration, _ base: Duration, _ variation: Duration, _ burst: Int
    ) -> Finding {
        response.add(flight: Double(flight), standing: Double(standing.nanoseconds))
        let excess = max(.zero, standing - base - tolerance)
        let part = Double(excess.nanoseconds) / Double(max(1, standing.nanoseconds))
        let queuedBytes = Double(flight) * part
        guard excess > base / 4 + variation * 2,
            queuedBytes >= Double(Self.queueMin(burst))
        else {
            isSuspected = false
            // What does not last is not tolerated for ever.
            tolerance -= max(.zero, base + tolerance - standing) / 32
            return .clear
        }
        // One round alone may have been unlucky.
        guard isSuspected else {
            isSuspected = true
            return .suspicion
        }
        // What slow start did before there was a queue tells nothing of it.
        if !hasBraked { response = DelayResponse() }
        hasBraked = true
        guard !response.isOthers else {
            tolerance = standing - base
            isSuspected = false
            return .futile
        }
        tolerance = tolerance * 3 / 4
        return .queue(fitting: Int(Double(flight) * (1 - part)))
    }

    /// Bytes of ours in a queue that are worth a brake: more than a few packets, and on a fast path
    /// more than what leaves at once.
    private static func queueMin(_ burst: Int) -> Int {
        let few = Limits.queuedPacketsMin * Limits.messageBytesMax
        return burst > Limits.transferBurst ? max(few, burst) : few
    }
}

/// How the delay of a path answers to what is under way, over the last rounds: where the queue is
/// ours, both grow and shrink in proportion; where we share it, by our share; where it is none,
/// the delay hardly moves.
struct DelayResponse: Sendable {
    private var flight = 0.0
    private var standing = 0.0
    private var variance = 0.0
    private var covariance = 0.0
    private var count = 0

    /// Each round weighs a sixteenth, the earlier ones less and less.
    mutating func add(flight newFlight: Double, standing newStanding: Double) {
        count += 1
        let weight = max(1 / Double(count), 1 / 16)
        let flightStep = newFlight - flight
        let standingStep = newStanding - standing
        flight += weight * flightStep
        standing += weight * standingStep
        variance = (1 - weight) * (variance + weight * flightStep * flightStep)
        covariance = (1 - weight) * (covariance + weight * flightStep * standingStep)
    }

    /// Whether enough was seen, and the delay is not of our making.
    var isOthers: Bool {
        guard count >= 8, flight > 0, standing > 0 else { return false }
        // Flights that differ by a tenth tell something.
        guard variance > 0.01 * flight * flight else { return false }
        return covariance / standing * flight < Self.ownShare * variance
    }

    /// Less of a delay's changes than that follows from ours: it belongs to others.
    private static let ownShare = 0.2
}
