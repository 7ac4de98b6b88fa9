import NearbyCore

/// How often nodes behind others are told that we do not have the channel of their frames: each in
/// its turn.
struct UnknownChannels: Sendable {
    /// When a node was told last: at most `Limits.channelsMax`.
    private var toldAt: [ShortID: Instant] = [:]

    /// Whether to tell it now.
    mutating func mayTell(_ source: ShortID, now: Instant) -> Bool {
        if let last = toldAt[source], now - last < Limits.hintInterval { return false }
        if toldAt.count >= Limits.channelsMax {
            toldAt = toldAt.filter { now - $0.value < Limits.hintInterval }
        }
        guard toldAt.count < Limits.channelsMax else { return false }
        toldAt[source] = now
        return true
    }
}

extension Limits {
    /// Between two answers to one node's frames for channels that we do not have.
    static let hintInterval = Duration.milliseconds(500)
}
