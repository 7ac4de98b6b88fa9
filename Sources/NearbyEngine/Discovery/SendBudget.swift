import NearbyCore

extension Limits {
    /// Discovery frames that a node sends in any second, beacons included.
    static let discoveryFramesPerSecond = 10
    /// Of these, requests and unicast beacons: fewer, so that a node that asks many still answers
    /// some.
    static let discoveryRequestsPerSecond = 4
    /// What beacons may claim in advance; the rest serves answers even on a node of many links.
    static let discoveryBeaconReserve = 6
    /// Of these, answers to frames of unknown channels: anybody can send such frames.
    static let unknownChannelAnswersPerSecond = 4
    /// Apart from these, answers of a collector to beacons that came to it alone, with the
    /// network's proof: a hall of boards may start at once.
    static let callerAnswersPerSecond = 512
    /// Apart from these, nudges to collectors: one to each neighbour that a node wants. The beacons
    /// of a start on two links fill the ten, and kept a relay from its collector for seconds.
    static let collectorNudgesPerSecond = neighboursWanted
    /// So many answers that wait on one link leave as one beacon, at a collector.
    static let batchBeaconAnswers = 4
    /// How long an answer of a collector to a beacon that all could hear waits for others.
    static let batchBeaconDelay = Duration.milliseconds(20)
}

/// What discovery may send in any second.
struct DiscoveryRate: Equatable, Sendable {
    /// Beacons included.
    var frames: Int
    /// Of these, requests and unicast beacons.
    var requests: Int

    init(
        frames: Int = Limits.discoveryFramesPerSecond,
        requests: Int = Limits.discoveryRequestsPerSecond
    ) {
        self.frames = frames
        self.requests = requests
    }

    /// People wait for a list of who is there, with what a hundred say of themselves.
    static let ofApplications = DiscoveryRate(frames: 96, requests: 48)
}

/// How much discovery may send: so many frames in any second, and of those to one address one of a
/// kind.
///
/// Beacons of the links are never held back; answers to callers and nudges to collectors have
/// limits of their own; everything else leaves only where it still fits, with the beacons that are
/// to come in the next second, and with one place for each other kind: so who provokes answers of
/// one kind does not keep us from trying configured addresses, nor from nudging those whom we want.
/// Keeps at most 22 entries more than frames may leave, and for those two limits an entry for each
/// of their places.
struct SendBudget: Sendable {
    enum Kind: Equatable, Sendable {
        case beacon
        case request
        case answer
        /// To a proved beacon that nobody else has heard, at a collector.
        case callerAnswer
        case infoReply
        /// The tie-break wants the peer.
        case nudge
        case collectorNudge
        /// Nobody here has the channel of its frame.
        case unknownChannel
    }

    private struct Sent: Sendable {
        let time: Instant
        let kind: Kind
        let address: TransportAddress?
    }

    private let rate: DiscoveryRate
    private var sent: [Sent] = []
    private var callers = AddressBudget(perSecond: Limits.callerAnswersPerSecond)
    private var collectorNudges = AddressBudget(perSecond: Limits.collectorNudgesPerSecond)

    init(_ rate: DiscoveryRate = DiscoveryRate()) { self.rate = rate }

    /// True, and counted, if a frame may leave now. `reserved` is how many beacons are to come
    /// within a second.
    mutating func take(_ kind: Kind, to address: TransportAddress, reserved: Int, now: Instant)
        -> Bool
    {
        forgetOld(now: now)
        if kind == .callerAnswer { return callers.take(address, now: now) }
        if kind == .collectorNudge { return collectorNudges.take(address, now: now) }
        let room = rate.frames - min(reserved, Limits.discoveryBeaconReserve)
        guard sent.count + keptForOthers(than: kind) < room else { return false }
        switch kind {
        case .beacon, .callerAnswer, .collectorNudge: break
        case .request:
            guard count([.request]) < rate.requests else { return false }
        case .unknownChannel:
            guard count([.unknownChannel]) < Limits.unknownChannelAnswersPerSecond,
                !wasSent(kind, to: address)
            else { return false }
        case .answer, .infoReply, .nudge:
            guard !wasSent(kind, to: address) else { return false }
        }
        sent.append(Sent(time: now, kind: kind, address: address))
        return true
    }

    /// A beacon left on a link, in so many datagrams.
    mutating func countBeacons(_ count: Int, now: Instant) {
        forgetOld(now: now)
        for _ in 0..<min(max(0, count), entriesMax - sent.count) {
            sent.append(Sent(time: now, kind: .beacon, address: nil))
        }
    }

    /// A beacon in so many datagrams fits among what may leave in this second.
    mutating func hasRoom(forBeacon datagrams: Int, now: Instant) -> Bool {
        forgetOld(now: now)
        return sent.count + datagrams + keptForOthers(than: .beacon)
            <= Limits.discoveryFramesPerSecond
    }

    /// In each second a request, a nudge and an answer have their place.
    private func keptForOthers(than kind: Kind) -> Int {
        let groups: [[Kind]] = [[.request], [.nudge], [.answer, .infoReply]]
        return groups.count { !$0.contains(kind) && count($0) == 0 }
    }

    private func wasSent(_ kind: Kind, to address: TransportAddress) -> Bool {
        sent.contains { $0.kind == kind && $0.address == address }
    }

    private func count(_ kinds: [Kind]) -> Int { sent.count { kinds.contains($0.kind) } }

    private mutating func forgetOld(now: Instant) {
        sent.removeAll { now - $0.time >= .seconds(1) }
    }

    private var entriesMax: Int { rate.frames + 22 }
}

/// So many frames of one kind in any second, and one to an address.
private struct AddressBudget: Sendable {
    let perSecond: Int
    /// At most `perSecond`, oldest first.
    private var sent: [(time: Instant, address: TransportAddress)] = []

    init(perSecond: Int) { self.perSecond = perSecond }

    mutating func take(_ address: TransportAddress, now: Instant) -> Bool {
        sent.removeFirst(sent.prefix { now - $0.time >= .seconds(1) }.count)
        guard sent.count < perSecond, !sent.contains(where: { $0.address == address })
        else { return false }
        sent.append((now, address))
        return true
    }
}
