import NearbyCore
import Telemetry

extension Limits {
    /// Samples of one agent's clock that the best is chosen from (RFC 5905 §10).
    static let clockSamplesMax = 8
    /// Two clocks drift apart by one part in this at most: 100 ppm.
    static let clockDriftDivisor: Int64 = 10_000
}

/// How the clock of one boot of an agent stands against ours.
struct ClockSample: Equatable, Sendable {
    var boot: BootID
    /// Add this to the agent's time to have it on our clock.
    var offset: Duration
    /// At `taken` the error was at most this, if the agent told the truth.
    var uncertainty: Duration
    /// Our clock.
    var taken: Instant
    /// What the agent knows of UTC, as the newest answer says.
    var clock: ClockReading

    init(
        boot: BootID, offset: Duration, uncertainty: Duration, taken: Instant, clock: ClockReading
    ) {
        self.boot = boot
        self.offset = offset
        self.uncertainty = uncertainty
        self.taken = taken
        self.clock = clock
    }

    /// How far the clocks may have drifted apart besides by `now`.
    func uncertainty(at now: Instant) -> Duration {
        uncertainty + ClockDrift.bound(over: now - taken)
    }
}

enum ClockDrift {
    /// What two clocks may drift apart in this time.
    static func bound(over time: Duration) -> Duration {
        max(time, .zero) / Int(Limits.clockDriftDivisor)
    }
}

/// Chooses among the last exchanges with one boot of an agent.
///
/// RFC 5905 §10 takes the one with the smallest delay. We take the one with the smallest sum of
/// half the delay and what the clocks may have drifted since: so a drift of 100 ppm is followed,
/// and the bound holds however lopsided the delays are.
struct ClockFilter: Sendable {
    let boot: BootID
    /// Oldest first.
    private var samples: [ClockSample] = []

    init(boot: BootID) { self.boot = boot }

    /// When the newest sample was taken.
    var newest: Instant? { samples.last?.taken }

    mutating func add(_ sample: ClockSample) {
        if samples.count >= Limits.clockSamplesMax { samples.removeFirst() }
        samples.append(sample)
    }

    /// The best by now, with the newest word about UTC; of equals the newest.
    func best(now: Instant) -> ClockSample? {
        guard let newest = samples.last else { return nil }
        var best = newest
        for sample in samples.reversed()
        where sample.uncertainty(at: now) < best.uncertainty(at: now) {
            best = sample
        }
        best.clock = newest.clock
        return best
    }
}

extension ClockSample {
    /// From one exchange (RFC 5905 §8): half the round trip bounds the error.
    ///
    /// Nil where the round trip is negative or longer than `Limits.clockDelayMax`, or the agent's
    /// clock shows a time that no board reaches.
    ///
    /// - Parameter now: when the answer came, our clock.
    init?(_ answer: TimeAnswer, now: Instant) {
        let held = answer.answered - answer.received
        let delay = (now - answer.asked) - held
        guard held >= .zero, delay >= .zero, delay <= Limits.clockDelayMax,
            answer.answered <= .zero + Limits.uptimeMax
        else { return nil }
        let ours = answer.asked + (now - answer.asked) / 2
        let theirs = answer.received + held / 2
        self.init(
            boot: answer.boot, offset: ours - theirs, uncertainty: delay / 2, taken: now,
            clock: answer.clock)
    }
}
