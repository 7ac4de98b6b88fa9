import NearbyCore

/// How many of the frames to one neighbour that want an answer get none: a moving average over
/// about 64. It sets the price of the link. Over sixteen, a loss of a quarter would look like
/// anything from a tenth to a half, and the cost of every route over the link would follow.
///
/// On Ethernet and Bluetooth, where little is lost, data frames whose answer was awaited count,
/// and the probes that follow them. Over Wi-Fi only separate probes do, called questions: any
/// frame that arrives counts as an answer to data, so losses would look rarer than they are. The
/// first few questions follow each other quickly, or the best way would be known only after
/// something was sent over all others. While little is sent the two sides take turns with them, in
/// place of hellos.
struct LinkLoss: Sendable {
    /// Of 65,536.
    private(set) var share: UInt32 = 0
    /// Before there are 64, all count, and four that are thought of as answered: the first one that
    /// is lost says little.
    private var weight = Self.weightAtFirst
    private let asksQuestions: Bool
    /// Our last question has not been answered.
    private var isAwaiting = false
    private var askedAt: Instant
    private var wasAskedAt: Instant
    /// Frames with data since our last question, as far as they count.
    private var sentCount: UInt8 = 0
    /// The longest that an answer took lately; nil: there was none yet.
    private var roundTrip: Duration?

    init(_ linkClass: LinkClass, now: Instant) {
        asksQuestions = linkClass == .wifi
        askedAt = now
        wasAskedAt = now
    }

    var percent: Int { Int(share) * 100 / 65_536 }

    /// Too little is known of the link to believe that it is a good one.
    var isYoung: Bool { asksQuestions && weight < Self.weightAtFirst + Self.firstQuestions }

    /// How many probes may go unanswered before a neighbour is suspect: so many that, at the usual
    /// loss, all of them and the frame before them are lost by chance once in a hundred thousand
    /// times; more often where over half is lost.
    static func probesMax(usually share: UInt32) -> Int {
        guard share >= Limits.lossyLink else { return 3 }
        let probes = [4, 6, 9, 12, 16]
        return probes[min(Int(share) * 10 / 65_536, probes.count - 1)]
    }

    // MARK: Frames with data

    mutating func frameSent() { sentCount = min(sentCount + 1, Self.sentCountBusy) }

    mutating func frameAnswered() {
        if !asksQuestions { add(isLost: false) }
    }

    mutating func frameLost() {
        if !asksQuestions { add(isLost: true) }
    }

    private mutating func add(isLost: Bool) {
        weight = min(weight + 1, Self.weightMax)
        if isLost { share += (65_536 - share) / weight } else { share -= share / weight }
    }

    // MARK: Questions

    /// When the next one is due.
    ///
    /// - Parameter helloInterval: between two that say only that somebody is there.
    func questionDue(_ helloInterval: Duration) -> Instant? {
        guard asksQuestions else { return nil }
        let soonest = isAwaiting ? askedAt + patience : askedAt
        if isYoung { return max(soonest, askedAt + Limits.firstQuestionInterval) }
        if sentCount >= Self.sentCountBusy {
            return max(soonest, askedAt + Limits.questionInterval)
        }
        let isOurTurn = wasAskedAt > askedAt + Limits.questionTurn
        return isOurTurn
            ? min(wasAskedAt + helloInterval, askedAt + helloInterval * 3)
            : askedAt + helloInterval * 2
    }

    /// From the last frame that we sent to the next hello. Longer where questions are asked, so
    /// that a question comes first.
    func pause(_ helloInterval: Duration) -> Duration {
        asksQuestions ? helloInterval + Limits.questionTurn * 2 : helloInterval
    }

    /// We ask now. If our last question was not answered yet, it is lost.
    mutating func ask(now: Instant) {
        if isAwaiting { add(isLost: true) }
        isAwaiting = true
        askedAt = now
        sentCount = 0
    }

    /// False if none of ours was awaited.
    mutating func questionAnswered(now: Instant) -> Bool {
        guard isAwaiting else { return false }
        add(isLost: false)
        isAwaiting = false
        let before = roundTrip ?? .zero
        // Some are too short: the answer to an earlier probe was taken for this one's.
        roundTrip = max(now - askedAt, before - before / 64)
        return true
    }

    /// How long the next question waits for the answer to the last one, which then counts as lost.
    /// With power saving an answer may take longer than the interval between questions.
    private var patience: Duration {
        guard let roundTrip else { return Limits.questionPatience }
        return min(max(roundTrip * 2, Limits.questionPatienceMin), Limits.questionPatience)
    }

    mutating func wasAsked(now: Instant) { wasAskedAt = now }

    /// Probing begins: its answers could not be told from the answer to our question.
    mutating func stopAwaiting(now: Instant) {
        if isAwaiting, now - askedAt >= patience { add(isLost: true) }
        isAwaiting = false
    }

    private static let weightAtFirst: UInt32 = 4
    private static let weightMax: UInt32 = 64
    private static let firstQuestions: UInt32 = 8
    private static let sentCountBusy: UInt8 = 4
}

extension Limits {
    /// A loss, of 65,536, from which on a link is lossy as a matter of course.
    static let lossyLink: UInt32 = 65_536 / 20
    /// Between the first few questions to a new neighbour.
    static let firstQuestionInterval = Duration.milliseconds(150)
    /// How long an answer may take at most, and at least.
    static let questionPatience = Duration.milliseconds(400)
    static let questionPatienceMin = Duration.milliseconds(15)
    /// Who is asked so soon after it asked has not been given its turn: both asked at once.
    static let questionTurn = Duration.milliseconds(100)
    /// Between two questions at least, once four data frames were sent since the last one.
    static let questionInterval = Duration.milliseconds(250)
}
