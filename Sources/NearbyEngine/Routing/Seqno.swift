import NearbyCore

/// Seqnos lie on a circle (RFC 8966 §3.2.1): no number is the last one, and nobody can announce one
/// that the destination cannot go beyond.
extension UInt32 {
    /// Whether this seqno is less than half the circle ahead of the other. Of two that lie opposite
    /// each other neither is.
    func isNewer(than other: UInt32) -> Bool { self != other && self &- other < 1 << 31 }

    /// Half the circle away. To take it for older would be for good: it and what is newer by one
    /// would each look ahead of the other to one of the two sides.
    func isOpposite(to other: UInt32) -> Bool { self &- other == 1 << 31 }

    func isAtLeast(_ other: UInt32) -> Bool { self == other || isNewer(than: other) }
}

extension Limits {
    /// A seqno further ahead of the feasibility distance than this is a leap. Honest destinations
    /// take steps of one; only a restart that nobody remembers goes further.
    static let seqnoStepMax: UInt32 = 1 << 16
    /// A run's seqno takes no greater steps than this, and hardly any run begins so near to where
    /// another ended.
    static let seqnoRunStepMax: UInt32 = 1 << 10
    /// Between two leaps of one destination: longer than a message is under way, so that seqnos of
    /// more than half the circle are never compared with each other.
    static let leapInterval = Duration.seconds(1)
}
