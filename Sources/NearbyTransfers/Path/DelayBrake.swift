import NearbyCore

/// Tells from round-trip times whether a queue of ours stands somewhere on the path.
///
/// A round lasts until eight acknowledgements of packets came that were sent since it began. Its
/// least time is compared with the least that the path ever showed: jitter makes single packets
/// late, a queue all of them. A radio that keeps the order makes all of them late as well, but not
/// evenly, as a queue does: eight times the variation is allowed for, once a brake has ended slow
/// start, whose own growth varies the times.
///
/// A delay that stands although next to nothing of ours is under way is not of our making: the path
/// has become slower, or others fill its queue. From then on it is what the path takes.
struct DelayBrake: Sendable {
    enum Finding: Equatable, Sendable {
        case clear
        /// Perhaps a queue; the next round tells.
        case suspicion
        /// Bytes that can be under way without the queue.
        case queue(fitting: Int)
    }

    /// What the path takes without a queue.
    private var base: Duration?
    private var roundStart = Instant.zero
    /// Bytes under way when the packet left that had the least time.
    private var flight = 0
    private var sampleCount = 0
    private var least: Duration?
    private var isSuspected = false
    private var hasBraked = false
    /// Rounds in a row in which a delay stood without us, and the least of it.
    private var foreignRounds = 0
    private var foreignLeast: Duration?

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
        let excess = max(.zero, standing - base)
        let isDelayed = excess > base / 4 + jitter(variation)
        let part = Double(excess.nanoseconds) / Double(max(1, standing.nanoseconds))
        let queuedBytes = Double(flight) * part
        guard isDelayed, !becomesBase(standing), queuedBytes >= Double(Self.queueMin(burst)) else {
            if !isDelayed { foreignRounds = 0 }
            isSuspected = false
            return .clear
        }
        // One round alone may have been unlucky.
        guard isSuspected else {
            isSuspected = true
            return .suspicion
        }
        hasBraked = true
        return .queue(fitting: Int(Double(flight) * (1 - part)))
    }

    /// Whether a delay has stood long enough without us; then it is no delay any more.
    private mutating func becomesBase(_ standing: Duration) -> Bool {
        guard flight <= Limits.foreignFlightMax else {
            foreignRounds = 0
            return false
        }
        foreignLeast = foreignRounds == 0 ? standing : min(foreignLeast ?? standing, standing)
        foreignRounds += 1
        guard foreignRounds >= Limits.foreignRoundsMin else { return false }
        foreignRounds = 0
        base = foreignLeast
        return true
    }

    /// What jitter may leave in the least of a round. On a slow path our own packets vary each
    /// other's times: beyond a tenth of a second no more than twice the variation is allowed for.
    private func jitter(_ variation: Duration) -> Duration {
        hasBraked ? max(variation * 2, min(variation * 8, .milliseconds(100))) : variation * 2
    }

    /// Bytes of ours in a queue that are worth a brake: more than a few packets, and on a fast path
    /// more than what leaves at once.
    private static func queueMin(_ burst: Int) -> Int {
        let few = Limits.queuedPacketsMin * Limits.messageBytesMax
        return burst > Limits.transferBurst ? max(few, burst) : few
    }
}

extension Limits {
    /// Next to nothing: twice what the window shrinks to.
    fileprivate static let foreignFlightMax = 8 * messageBytesMax
    fileprivate static let foreignRoundsMin = 4
}
