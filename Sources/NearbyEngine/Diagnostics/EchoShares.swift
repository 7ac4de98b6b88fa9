import NearbyCore

/// How many echo questions are answered in a second: a share for each source, since one member may
/// ask in a loop, and one for each neighbour, since sources in packets are not proved.
struct EchoShares: Sendable {
    private struct Answered {
        var source: ShortID
        var neighbour: PeerID
    }

    private var since = Instant.zero
    /// What was answered since then.
    private var answered: [Answered] = []

    /// Whether this one is answered.
    mutating func take(_ source: ShortID, over neighbour: PeerID, now: Instant) -> Bool {
        if now - since >= .seconds(1) {
            since = now
            answered.removeAll()
        }
        guard answered.count < Limits.echoAnswersPerSecond,
            answered.count(where: { $0.source == source }) < Limits.echoAnswersPerSource,
            answered.count(where: { $0.neighbour == neighbour }) < Limits.echoAnswersPerNeighbour
        else { return false }
        answered.append(Answered(source: source, neighbour: neighbour))
        return true
    }
}

extension Limits {
    /// Echo questions answered in a second: in all, of those over one neighbour, of one source.
    static let echoAnswersPerSecond = 128
    static let echoAnswersPerNeighbour = 64
    public static let echoAnswersPerSource = 32
}
