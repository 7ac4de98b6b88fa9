import NearbyCore
import Telemetry

/// Counts pulses, and says how fast they come.
///
/// The rate is that between the last two moments of asking, counted from pulse to pulse: so a meter
/// with a pulse a minute that is read every ten seconds shows its power, not zero and six times it
/// by turns. Without a new pulse the rate falls to what the silence still allows.
package struct PulseCounter: Sendable {
    /// Of the whole life of the counter; stops at the largest number.
    package private(set) var count: Int64 = 0
    /// What a pulse is worth.
    let scale: DecimalValue
    /// The rate's time: a second or an hour.
    let unitTime: Duration

    /// The pulse up to which the last rate counted.
    private var anchor: Instant?
    private var last: Instant?
    /// Pulses after the anchor.
    private var fresh: Int64 = 0
    /// The rate that was told last: so many pulses in so long.
    private var known: (pulses: Int64, in: Duration)?
    /// Since when pulses are seen.
    private var began: Instant

    init(scale: DecimalValue, unitTime: Duration, now: Instant) {
        self.scale = scale
        self.unitTime = unitTime
        began = now
    }

    /// What came until now may have gone unseen: the rate begins anew.
    mutating func interrupt(now: Instant) {
        anchor = nil
        last = nil
        fresh = 0
        known = nil
        began = now
    }

    /// Takes up what an earlier run counted.
    mutating func resume(_ earlier: Int64) { count = count.addingSaturating(max(0, earlier)) }

    mutating func add(_ pulses: Int64, at time: Instant) {
        guard pulses > 0 else { return }
        count = count.addingSaturating(pulses)
        if anchor == nil {
            // How long the first was in coming nobody knows.
            anchor = time
            fresh = fresh.addingSaturating(pulses - 1)
        } else {
            fresh = fresh.addingSaturating(pulses)
        }
        last = max(last ?? time, time)
    }

    /// All pulses, scaled; exact, or out of range.
    var total: Outcome {
        let (coefficient, overflow) = count.multipliedReportingOverflow(by: scale.coefficient)
        return overflow
            ? .null(.outOfRange)
            : .value(DecimalValue(coefficient: coefficient, exponent: scale.exponent))
    }

    /// In scaled units per `unitTime`, with three places more than the scale has, rounded down.
    /// Nothing for `silence` is zero. Before two pulses or that silence it is the mean since pulses
    /// are seen, once that is a twelfth of the silence: five minutes of an hour.
    mutating func rate(now: Instant) -> Outcome {
        if fresh > 0, let anchor, let last, last > anchor {
            known = (fresh, last - anchor)
            self.anchor = last
            fresh = 0
        }
        if now - (last ?? began) >= silence {
            known = (0, unitTime)
            return scaled(0, in: unitTime)
        }
        guard let known, let last else { return mean(until: now) }
        let sinceLast = now - last
        // The next is late already.
        if known.pulses > 0, sinceLast.nanoseconds > known.in.nanoseconds / known.pulses {
            return scaled(1, in: sinceLast)
        }
        return scaled(known.pulses, in: known.in)
    }

    private func mean(until now: Instant) -> Outcome {
        let watched = now - began
        guard watched >= silence / 12 else { return .null(.warmingUp) }
        return scaled(anchor == nil ? 0 : fresh.addingSaturating(1), in: watched)
    }

    /// How long without a pulse is standstill.
    private var silence: Duration { max(unitTime, .seconds(60)) }

    private func scaled(_ pulses: Int64, in time: Duration) -> Outcome {
        let exponent = Int(scale.exponent) - 3
        let worth = scale.coefficient.magnitude
            .multipliedReportingOverflow(by: pulses.magnitude)
        let thousandfold = worth.partialValue.multipliedReportingOverflow(by: 1_000)
        guard !worth.overflow, !thousandfold.overflow, let exponent = Int8(exactly: exponent)
        else { return .null(.outOfRange) }
        let divisor = UInt64(clamping: max(1, time.nanoseconds))
        let product = thousandfold.partialValue
            .multipliedFullWidth(by: UInt64(clamping: unitTime.nanoseconds))
        guard product.high < divisor else { return .null(.outOfRange) }
        let rate = divisor.dividingFullWidth(product).quotient
        guard let coefficient = Int64(exactly: rate) else { return .null(.outOfRange) }
        return .value(
            DecimalValue(
                coefficient: scale.coefficient < 0 ? -coefficient : coefficient,
                exponent: exponent))
    }
}
