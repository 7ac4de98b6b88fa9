import NearbyCore

/// How often nodes behind others are told that we do not have the channel of their frames: each in
/// its turn.
struct UnknownChannels: Sendable {
    /// When a node was told last: at most `Limits.channelsMax`.
    private var hintedAt: [ShortID: Instant] = [:]

    /// Whether to tell it now.
    mutating func mayHint(_ source: ShortID, now: Instant) -> Bool {
        if let last = hintedAt[source], now - last < Limits.hintInterval { return false }
        if hintedAt.count >= Limits.channelsMax {
            hintedAt = hintedAt.filter { now - $0.value < Limits.hintInterval }
        }
        guard hintedAt.count < Limits.channelsMax else { return false }
        hintedAt[source] = now
        return true
    }
}

extension Limits {
    /// Between two answers to one node's frames for channels that we do not have.
    static let hintInterval = Duration.milliseconds(500)
}
