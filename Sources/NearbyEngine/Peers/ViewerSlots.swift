import NearbyCore

extension Limits {
    /// Viewers that an agent sends copies to; further ones get nothing until one goes.
    public static let viewersMax = 7
    /// Calls without an answer after which a viewer makes room for others that want its place.
    static let viewerDialsUnanswered = 2
    /// How long it is not called then, unless there is room for everybody.
    static let viewerPause = Duration.seconds(60)
}

/// Which viewers an agent calls where routing names more than it has places for.
///
/// Anybody can announce viewers that do not exist, as near as it likes. So who answered as a viewer
/// keeps its place, who does not answer soon loses it for a while, and of the others chance decides
/// and not what routing says of their distance: a true viewer gets its turn.
struct ViewerSlots: Sendable {
    struct Candidate: Sendable {
        var peer: PeerID
        /// There is a channel with it, and it was admitted as a viewer.
        var isServed: Bool
        /// There is a channel with it, and it was admitted as something else.
        var isOther: Bool
        var isDialed: Bool
    }

    /// Those that did not answer, and until when they are passed over: at most as many as there are
    /// destinations, for those without a route are forgotten.
    private var pauses: [PeerID: Instant] = [:]
    /// Makes an order that nobody can foresee.
    private let salt: UInt64
    /// When somebody may be called again.
    private(set) var nextDeadline: Instant?

    init(salt: UInt64) { self.salt = salt }

    /// At most `Limits.viewersMax`; all, where they are no more.
    mutating func choose(from candidates: [Candidate], now: Instant) -> [PeerID] {
        guard candidates.count > Limits.viewersMax else {
            pauses = [:]
            nextDeadline = nil
            return candidates.map(\.peer)
        }
        let known = Set(candidates.map(\.peer))
        pauses = pauses.filter { known.contains($0.key) }
        nextDeadline = pauses.values.filter { $0 > now }.min()
        func rank(_ candidate: Candidate) -> (Int, Instant, UInt64, PeerID) {
            let order = candidate.isServed ? 0 : candidate.isDialed ? 1 : 2
            // Everybody once, before anybody again.
            let paused = pauses[candidate.peer] ?? .zero
            // An exclusive or alone would leave neighbouring numbers together.
            let lot = (candidate.peer.low ^ salt) &* 0x9e37_79b9_7f4a_7c15
            return (order, paused, lot, candidate.peer)
        }
        return candidates.filter { !$0.isOther && pauses[$0.peer] ?? .zero <= now }
            .sorted { rank($0) < rank($1) }.prefix(Limits.viewersMax).map(\.peer)
    }

    /// It was called as often as somebody is whose place others want.
    mutating func pause(_ peer: PeerID, now: Instant) {
        let end = now + Limits.viewerPause
        pauses[peer] = end
        nextDeadline = min(nextDeadline ?? end, end)
    }

    /// Whether a pause is over, so that the choice may be another; once for each.
    mutating func takeDue(now: Instant) -> Bool {
        guard let due = nextDeadline, due <= now else { return false }
        nextDeadline = pauses.values.filter { $0 > now }.min()
        return true
    }
}
