import NearbyCore

/// How long one neighbour takes to answer a frame with data: the shortest and the longest time of
/// the last fifteen to thirty seconds, from which follows when it is late.
///
/// As a retransmission timeout follows the round trip and its variation (RFC 6298), but from the
/// longest time instead of a mean: a neighbour that was slow for a moment is not given up the next
/// time that it is. A lossy link shows long times too, and is given more of it. And who was given
/// up and then answered late may have twice the time for half a minute, up to eight times: where a
/// thousand wait for one that is busy, their probes would keep it so.
struct AnswerTimes: Sendable {
    private struct AnswerSpan {
        var shortest = Duration.seconds(1)
        var longest = Duration.zero

        mutating func add(_ time: Duration) {
            shortest = min(shortest, time)
            longest = max(longest, time)
        }
    }

    private var current = AnswerSpan()
    private var former = AnswerSpan()
    private var currentEnd: Instant
    private var count = 0
    private var falseAlarms = 0
    private var falseAlarmsEnd = Instant.zero

    init(now: Instant) { currentEnd = now + Self.spanLength }

    /// - Parameter time: from the frame to the next one that came back; more than a second is an
    ///   outage and tells nothing of the link.
    mutating func add(_ time: Duration, now: Instant) {
        guard time <= .seconds(1) else { return }
        if now >= currentEnd {
            former = current
            current = AnswerSpan()
            currentEnd = now + Self.spanLength
        }
        current.add(time)
        count = min(count + 1, Self.countUntilTrusted)
    }

    /// It was given up, was there, and answered late.
    mutating func addFalseAlarm(now: Instant) {
        falseAlarms = now < falseAlarmsEnd ? min(falseAlarms + 1, Self.doublingsMax) : 1
        falseAlarmsEnd = now + Self.spanLength * 2
    }

    /// How many times as long it may take, after false alarms.
    func forbearance(now: Instant) -> Int { now < falseAlarmsEnd ? 1 << falseAlarms : 1 }

    /// When a frame with data counts as unanswered: from 35 ms on a wire where every answer came
    /// in time to 75 ms, and later only where no answer is ever that fast.
    var answerTimeout: Duration {
        let most = max(Limits.answerTimeout, shortest + Limits.answerMargin)
        guard count >= Self.countUntilTrusted else { return most }
        return min(max(longest * 5 / 4, Limits.answerTimeoutMin), most)
    }

    /// Between two probes while it does not answer: 20 to 50 ms. Probes are answered at once.
    var probeInterval: Duration {
        let usual = max(answerTimeout - Limits.answerDelay, Limits.probeIntervalMin)
        return min(usual, Limits.probeInterval)
    }

    private var shortest: Duration {
        count == 0 ? .zero : min(current.shortest, former.shortest)
    }

    private var longest: Duration { max(current.longest, former.longest) }

    private static let spanLength = Duration.seconds(15)
    private static let countUntilTrusted = 8
    private static let doublingsMax = 3
}

extension Limits {
    /// A received frame with data is answered after this time, if nothing else was sent.
    static let answerDelay = Duration.milliseconds(25)
    /// A sent frame with data counts as unanswered after this time, as long as little is known of
    /// the neighbour: 25 ms for the answer, and 50 for the path.
    static let answerTimeout = Duration.milliseconds(75)
    static let answerTimeoutMin = Duration.milliseconds(35)
    static let answerMargin = Duration.milliseconds(50)
    static let probeInterval = Duration.milliseconds(50)
    static let probeIntervalMin = Duration.milliseconds(20)
}
