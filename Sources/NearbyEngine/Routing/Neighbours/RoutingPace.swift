import NearbyCore

/// When neighbours are told of changes, where they are few: at once after a quiet time, then all
/// of them together once in each interval. Where a thousand nodes get power, each hears of all
/// others from each neighbour, and a message for each change would be thousands a second; so it is
/// fifty, each with what changed since the last.
///
/// All are told at once of what readings need: of collectors and viewers, but for what they cost,
/// and of ourselves. Newcomers and requests do not wait either.
struct RoutingPace: Sendable {
    private var allowance = Allowance(
        burst: Limits.routingPaceBurst,
        intervalNanoseconds: Limits.routingPaceInterval.nanoseconds)
    /// The place of the last change of which all are told at once, and the last that they were.
    private var urgentPlace: UInt64 = 0
    private var urgentGivenUpTo: UInt64 = 0
    /// Somebody has still to be told of something.
    private(set) var isHolding = false

    mutating func addUrgent(_ place: UInt64) { urgentPlace = place }

    /// Who was told up to this place is told more at once.
    func isUrgent(from place: UInt64) -> Bool { place < urgentPlace }

    mutating func isOpen(_ now: Instant) -> Bool { allowance.isOpen(now) }

    var nextOpening: Instant { allowance.nextOpening }

    /// Whether all are to be looked at for what is urgent; once for each such change.
    mutating func takeUrgent() -> Bool {
        defer { urgentGivenUpTo = urgentPlace }
        return urgentGivenUpTo < urgentPlace
    }

    mutating func hold() { isHolding = true }

    /// Whether somebody was held back; all are looked at now.
    mutating func release() -> Bool {
        defer { isHolding = false }
        return isHolding
    }

    /// A message with changes has left.
    mutating func spend() { allowance.spend() }
}

extension Limits {
    /// Messages with changes that leave without a pause after a quiet time.
    static let routingPaceBurst: Int64 = 64
    /// After that, the time between two rounds; in a quiet time, that in which one message is
    /// regained.
    static let routingPaceInterval = Duration.milliseconds(20)
}
