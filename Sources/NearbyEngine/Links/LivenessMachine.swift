import NearbyCore
import NearbyWire

/// Whether one neighbour still answers, and what its link costs.
///
/// While data flows: who receives data answers within 25 ms with any frame; after one unanswered
/// frame the sender probes every 20 to 50 ms, and some unanswered probes later the neighbour is
/// suspect; how soon follows its answers so far (`AnswerTimes`).
/// Idle: a hello a second in each direction, or over Wi-Fi a question and its answer (`LinkLoss`);
/// after two missing ones the neighbour is probed in the same way, and after three it is given up.
/// Where an ICMP error says that nobody is there, and that is proved, the neighbour is suspect at
/// once.
public struct LivenessMachine: Sendable {
    public enum Input: Sendable {
        case frameSent(isData: Bool)
        case frameReceived(isData: Bool)
        case received(LivenessFrame)
        /// It is proved that nobody is there now.
        case unreachable
        case deadlineReached
    }

    public enum Output: Equatable, Sendable {
        /// A payload of its own, at control priority.
        case send([UInt8])
        case costChanged(UInt16)
        /// Route around it; it may come back.
        case suspected
        /// Silent for `Limits.neighbourTimeout`.
        case lost
    }

    private enum State: Equatable {
        case alive
        /// So many frames in a row were not answered.
        case probing(unanswered: Int, next: Instant)
        case suspect(Suspicion)
    }

    /// What a suspect has shown since. Probes go out one at a time. While none is answered though
    /// the link loses few frames, they become rarer: it may be there and behind with its work, of
    /// which they are more.
    private struct Suspicion: Equatable {
        /// Probes in a row that were answered, and that were not.
        var answers = 0
        var missed = 0
        /// Whether the last probe was answered.
        var isAnswered = false
        /// Answers since the last probe, and whether they were ever more than one.
        var answersAtOnce = 0
        var isLate = false
        var next: Instant
    }

    private let base: UInt16
    /// How much longer an answer takes than on a LAN.
    private let slowness: Int
    private var state = State.alive
    /// The answer that we owe.
    private var answerDue: Instant?
    /// When the frame that we sent counts as unanswered.
    private var answerExpected: Instant?
    /// When the oldest frame that nothing answered was sent.
    private var dataSentAt: Instant?
    private var answerTimes: AnswerTimes
    private var lastSent: Instant
    private var lastHeard: Instant
    private var loss: LinkLoss
    private let isDoubted: Bool
    /// The loss, of 65,536, before the frames that are unanswered now: a dead link is no lossy one.
    private var usualLoss: UInt32 = 0
    private var announcedCost: UInt16 = 0
    private let helloInterval: Duration
    /// Kept: it is asked for far more often than it is another.
    public private(set) var nextDeadline: Instant?

    /// - Parameter isDoubted: over Wi-Fi, the link costs at least twice as much until it has been
    ///   measured.
    public init(
        linkClass: LinkClass, isDoubted: Bool = false, seed: UInt64, now: Instant
    ) {
        base = linkClass.cost
        loss = LinkLoss(linkClass, now: now)
        self.isDoubted = isDoubted
        slowness = linkClass == .bluetooth ? 4 : 1
        answerTimes = AnswerTimes(now: now)
        lastSent = now
        lastHeard = now
        var random = SeededGenerator(seed: seed)
        helloInterval = Limits.helloInterval + random.duration(in: Limits.helloJitter)
        announcedCost = cost
        nextDeadline = earliest
    }

    public mutating func handle(_ input: Input, now: Instant) -> [Output] {
        let outputs = apply(input, now)
        nextDeadline = earliest
        return outputs
    }

    private mutating func apply(_ input: Input, _ now: Instant) -> [Output] {
        switch input {
        case .frameSent(let isData):
            lastSent = now
            answerDue = nil
            if isData { loss.frameSent() }
            if isData, answerExpected == nil, state == .alive {
                answerExpected = now + answerTimes.answerTimeout * patience(now)
                dataSentAt = now
            }
            return []
        case .frameReceived(let isData): return heard(isData: isData, now)
        case .received(.probe):
            loss.wasAsked(now: now)
            return heard(isData: false, now) + [.send(LivenessFrame.answer.bytes)]
        case .received(.answer):
            // Probes are answered at once: this does not show how fast data is answered.
            if loss.questionAnswered(now: now) { dataSentAt = nil }
            answered(now)
            return heard(isData: false, now)
        case .received: return heard(isData: false, now)
        case .unreachable: return suspect(now)
        case .deadlineReached: return deadlineReached(now)
        }
    }

    /// Whether the neighbour was heard within the last second and a half: what comes once a second
    /// was not missed twice.
    func wasJustHeard(now: Instant) -> Bool {
        now - lastHeard < Limits.helloInterval * 3 / 2
    }

    @inline(__always)
    private var earliest: Instant {
        var earliest = min(
            lastSent + loss.pause(helloInterval), lastHeard + Limits.neighbourTimeout)
        if let answerDue { earliest = min(earliest, answerDue) }
        if let answerExpected { earliest = min(earliest, answerExpected) }
        switch state {
        case .alive:
            if let question = loss.questionDue(helloInterval) { earliest = min(earliest, question) }
            return min(earliest, lastHeard + Limits.silenceBeforeProbes)
        case .probing(_, let next): return min(earliest, next)
        case .suspect(let suspicion): return min(earliest, suspicion.next)
        }
    }

    /// Expected transmissions × link class; infinite while suspect. A link over Wi-Fi that is
    /// doubted costs at least twice as much until it has been measured: routes that move to a bad
    /// one would move back.
    public var cost: UInt16 {
        if case .suspect = state { return RoutingMessage.metricInfinite }
        let most: UInt32 = isDoubted && loss.isYoung ? 65_536 / 2 : 65_536
        let delivered = max(min(65_536 - loss.share, most), 65_536 / 8)
        return UInt16(clamping: UInt32(base) * 65_536 / delivered)
    }

    public var lossPercent: Int { loss.percent }

    private mutating func heard(isData: Bool, _ now: Instant) -> [Output] {
        lastHeard = now
        if isData, answerDue == nil { answerDue = now + Limits.answerDelay }
        let wasAwaited = answerExpected != nil
        answerExpected = nil
        if let dataSentAt {
            answerTimes.add((now - dataSentAt) / slowness, now: now)
            self.dataSentAt = nil
        }
        switch state {
        case .alive:
            if wasAwaited { loss.frameAnswered() }
        case .probing:
            loss.frameAnswered()
            state = .alive
        case .suspect(var suspicion):
            // Further frames meanwhile prove no more than one.
            if suspicion.isAnswered { return [] }
            if suspicion.answers + 1 < Limits.answersUntilTrusted {
                suspicion.answers += 1
                suspicion.isAnswered = true
                suspicion.next = min(
                    suspicion.next, now + Limits.suspectProbeInterval * slowness)
                state = .suspect(suspicion)
                return []
            }
            state = .alive
            announcedCost = cost
            return [.costChanged(cost)]
        }
        return costOutput()
    }

    /// More answers than probes: some are to earlier ones, which were late and not lost. So it was
    /// there all the time, and is behind with its work.
    private mutating func answered(_ now: Instant) {
        guard case .suspect(var suspicion) = state else { return }
        suspicion.answersAtOnce += 1
        if suspicion.answersAtOnce > 1, !suspicion.isLate {
            suspicion.isLate = true
            answerTimes.addFalseAlarm(now: now)
        }
        state = .suspect(suspicion)
    }

    private mutating func deadlineReached(_ now: Instant) -> [Output] {
        if now >= lastHeard + Limits.neighbourTimeout { return [.lost] }
        var outputs: [Output] = []
        if let due = answerDue, now >= due {
            answerDue = nil
            outputs.append(.send([FrameKind.empty.rawValue]))
        }
        if let expected = answerExpected, now >= expected {
            outputs += unanswered(1, now)
        }
        switch state {
        case .alive:
            if now >= lastHeard + Limits.silenceBeforeProbes { outputs += unanswered(1, now) }
        case .probing(let count, let next):
            if now >= next { outputs += unanswered(count + 1, now) }
        case .suspect(var suspicion):
            if now >= suspicion.next {
                suspicion.missed = suspicion.isAnswered ? 0 : suspicion.missed + 1
                if !suspicion.isAnswered { suspicion.answers = 0 }
                suspicion.isAnswered = false
                suspicion.answersAtOnce = 0
                suspicion.next = now + pause(after: suspicion.missed)
                state = .suspect(suspicion)
                outputs.append(.send(LivenessFrame.probe.bytes))
            }
        }
        if state == .alive, let question = loss.questionDue(helloInterval), now >= question {
            lastSent = now
            loss.ask(now: now)
            outputs.append(.send(LivenessFrame.probe.bytes))
            outputs += costOutput()
        }
        if outputs.isEmpty, now >= lastSent + loss.pause(helloInterval) {
            lastSent = now
            outputs.append(.send(LivenessFrame.hello.bytes))
        }
        return outputs
    }

    private mutating func unanswered(_ count: Int, _ now: Instant) -> [Output] {
        answerExpected = nil
        loss.stopAwaiting(now: now)
        if count == 1 { usualLoss = loss.share }
        loss.frameLost()
        guard count <= unansweredMax else { return suspect(now) }
        state = .probing(unanswered: count, next: now + probeInterval * patience(now))
        return [.send(LivenessFrame.probe.bytes)]
    }

    /// From one probe of a suspect to the next, where so many before were not answered.
    private func pause(after missed: Int) -> Duration {
        let doublings = usualLoss < Limits.lossyLink ? min(missed / 2, 2) : 0
        return Limits.suspectProbeInterval * slowness * (1 << doublings)
    }

    private mutating func suspect(_ now: Instant) -> [Output] {
        if case .suspect = state { return [] }
        answerExpected = nil
        loss.stopAwaiting(now: now)
        state = .suspect(Suspicion(next: now + Limits.suspectProbeInterval * slowness))
        announcedCost = RoutingMessage.metricInfinite
        return [.suspected, .send(LivenessFrame.probe.bytes)]
    }

    /// Times as long as on a quick link. After false alarms too, but so that who is gone is suspect
    /// long before it counts as lost, and another way is taken.
    private func patience(_ now: Instant) -> Int {
        let usual = (answerTimes.answerTimeout + probeInterval * unansweredMax) * slowness
        let most = Limits.suspicionMax.nanoseconds / max(1, usual.nanoseconds)
        return slowness * max(1, min(answerTimes.forbearance(now: now), Int(most)))
    }

    /// Probes: three on a good link; more where frames are lost as a matter of course.
    private var unansweredMax: Int { LinkLoss.probesMax(usually: usualLoss) }

    /// More probes follow each other sooner, at 20 ms at the least: a neighbour on a lossy link is
    /// suspect after 395 ms at most, instead of 225.
    private var probeInterval: Duration {
        max(answerTimes.probeInterval * 3 / unansweredMax, Limits.probeIntervalMin)
    }

    /// Small changes are not worth a message.
    private mutating func costOutput() -> [Output] {
        let current = cost
        let difference = current > announcedCost ? current - announcedCost : announcedCost - current
        guard UInt32(difference) * 4 > UInt32(announcedCost) else { return [] }
        announcedCost = current
        return [.costChanged(current)]
    }
}

extension LinkClass {
    /// The cost of one transmission: Ethernet < Wi-Fi < Bluetooth.
    public var cost: UInt16 {
        switch self {
        case .ethernet: 96
        case .wifi: 256
        case .bluetooth: 1_024
        }
    }
}

extension Limits {
    /// Between probes that are answered; at most four times as long between others.
    static let suspectProbeInterval = Duration.milliseconds(150)
    /// Answers in a row until a suspect is used again.
    public static let answersUntilTrusted = 4
    static let helloInterval = Duration.seconds(1)
    /// Added to it: what is sent once a second, such as a report, makes hellos superfluous.
    static let helloJitter = Duration.milliseconds(5)..<Duration.milliseconds(25)
    /// Two hellos, and what they take to come: then it is asked, before it is given up.
    static let silenceBeforeProbes = Duration.milliseconds(2_150)
    /// Three hellos, and what they take to come.
    public static let neighbourTimeout = Duration.milliseconds(3_100)
    /// How long somebody who is not there may count as late at most.
    static let suspicionMax = Duration.milliseconds(1_500)
}
