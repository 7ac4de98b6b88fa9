import NearbyCore

extension Limits {
    /// How long an agent may have brought nothing to bring as much at once.
    static let readingBurst: Duration = .seconds(5)
    /// Births of one agent that are new, a minute. A bus of sensors that come and go raises one
    /// with each change; a restarted agent brings one for each run in its spool.
    public static let birthsPerMinuteMax = 60
    /// What a reading takes in the store, bytes: its row, its place in the index by time, and its
    /// part of a window's row.
    static let storedReadingBytes = 64
    /// One agent's share a day of what is free on the store's disk: one part in so many.
    static let storeShareDivisor = 4
    /// How long nothing of an agent was refused when its quota counts as kept again.
    static let quotaPause: Duration = .seconds(60)
    /// Agents whose use of their quotas is remembered; the one that used least goes.
    static let quotaPeersMax = 4_096
    /// Lines of the log that one agent may cause an hour, quotas apart.
    static let diagnosticsPerHourMax = 60
}

/// What one agent may bring to a collector that stores.
public struct CollectorQuotas: Hashable, Sendable {
    /// In the long run; what five seconds allow may come at once.
    public var readingsPerSecond = 10_000
    /// What its readings and births may add to the store, bytes; never more than
    /// `Limits.storeShareDivisor` allows.
    public var storeBytesPerDay = 4 << 30

    public init() {}
}

/// What is counted of an agent.
public enum Quota: UInt8, CaseIterable, Sendable {
    case readings, births, store

    public var dropReason: DropReason {
        switch self {
        case .readings: .readingQuota
        case .births: .birthQuota
        case .store: .storeQuota
        }
    }
}

/// How much of its quotas each agent has used. What is refused is not settled: an honest agent
/// keeps it and sends it again, so that it is late and not lost.
struct QuotaTable: Sendable {
    struct Refusal: Hashable, Sendable {
        var peer: PeerID
        var quota: Quota
    }

    private struct Use: Sendable {
        var limits = [RateLimit](repeating: RateLimit(), count: Quota.allCases.count)
        var diagnostics = RateLimit()
        var fullAt: Instant { limits.map(\.fullAt).max() ?? .zero }
    }

    var settings = CollectorQuotas()
    /// What the store's disk has left, bytes; nil while nobody said.
    var freeBytes: Int?
    private var uses: [PeerID: Use] = [:]
    /// Quotas that are exceeded, and when something was refused for them last.
    private var refusals: [Refusal: Instant] = [:]

    /// When the next quota may count as kept again.
    var nextDeadline: Instant? { refusals.values.min().map { $0 + Limits.quotaPause } }

    func isSpent(_ quota: Quota, of peer: PeerID, now: Instant) -> Bool {
        uses[peer]?.limits[Int(quota.rawValue)].isSpent(rate(quota), now: now) ?? false
    }

    mutating func spend(_ count: Int, of quota: Quota, by peer: PeerID, now: Instant) {
        guard count > 0 else { return }
        let rate = rate(quota)
        makeRoom(for: peer)
        uses[peer, default: Use()].limits[Int(quota.rawValue)].spend(count, of: rate, now: now)
    }

    /// Something was refused. Returns whether it is the first for this quota since it was kept.
    mutating func refuse(_ quota: Quota, of peer: PeerID, now: Instant) -> Bool {
        let refusal = Refusal(peer: peer, quota: quota)
        guard refusals[refusal] != nil || refusals.count < Limits.quotaPeersMax else {
            return false
        }
        return refusals.updateValue(now, forKey: refusal) == nil
    }

    /// Quotas that are kept again, by PeerID.
    mutating func takeKept(now: Instant) -> [Refusal] {
        let kept = refusals.filter { $0.value + Limits.quotaPause <= now }.keys
        for refusal in kept { refusals[refusal] = nil }
        return kept.sorted { ($0.peer, $0.quota.rawValue) < ($1.peer, $1.quota.rawValue) }
    }

    /// Whether a line about this agent may go to the log.
    mutating func mayTell(of peer: PeerID, now: Instant) -> Bool {
        let rate = RateLimit.Rate(Limits.diagnosticsPerHourMax, each: .seconds(3_600))
        makeRoom(for: peer)
        guard uses[peer, default: Use()].diagnostics.isSpent(rate, now: now) == false else {
            return false
        }
        uses[peer]?.diagnostics.spend(1, of: rate, now: now)
        return true
    }

    func rate(_ quota: Quota) -> RateLimit.Rate {
        switch quota {
        case .readings:
            let seconds = Int(Limits.readingBurst.components.seconds)
            return RateLimit.Rate(
                settings.readingsPerSecond * seconds, each: Limits.readingBurst)
        case .births: return RateLimit.Rate(Limits.birthsPerMinuteMax, each: .seconds(60))
        case .store:
            let share = freeBytes.map { max(1 << 20, $0 / Limits.storeShareDivisor) }
            let bytes = min(settings.storeBytesPerDay, share ?? .max)
            return RateLimit.Rate(bytes, each: .seconds(86_400))
        }
    }

    private mutating func makeRoom(for peer: PeerID) {
        guard uses[peer] == nil, uses.count >= Limits.quotaPeersMax else { return }
        let least = uses.min { ($0.value.fullAt, $0.key) < ($1.value.fullAt, $1.key) }
        if let least { uses[least.key] = nil }
    }
}
