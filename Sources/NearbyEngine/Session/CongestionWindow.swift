import NearbyCore

/// How much may be in flight: NewReno as in RFC 9002 §7, with its pacing (§7.7).
public struct CongestionWindow: Hashable, Sendable {
    /// Bytes that may be in flight.
    public private(set) var size = Limits.congestionWindowInitial
    /// Bytes in flight, counted by the owner's calls.
    public private(set) var inFlight = 0

    private var threshold = Int.max
    /// Acknowledged in congestion avoidance since the last step.
    private var acknowledgedBytes = 0
    /// Losses and acknowledgements of what was sent before belong to the recovery in progress.
    private var recoveryStart: Instant?
    private var credit = Limits.paceBurst
    private var creditAt: Instant?

    public init() {}

    /// Whether so many bytes fit now; the pace is another question.
    public func admits(_ byteCount: Int) -> Bool { inFlight + byteCount <= size }

    public mutating func sent(_ byteCount: Int) {
        inFlight += byteCount
        credit = max(0, credit - byteCount)
    }

    /// Whether enough is in flight to tell something of the path (RFC 9002 §7.8): half the window.
    public var isUsed: Bool { inFlight * 2 >= size }

    /// A segment sent at `sentAt` arrived; `wasUsed` tells of the window when the news came.
    public mutating func acknowledged(_ byteCount: Int, sentAt: Instant, wasUsed: Bool) {
        inFlight = max(0, inFlight - byteCount)
        if let recoveryStart, sentAt <= recoveryStart { return }
        guard wasUsed else { return }
        if size < threshold {
            size += byteCount
        } else {
            acknowledgedBytes += byteCount
            if acknowledgedBytes >= size {
                acknowledgedBytes -= size
                size += Limits.segmentBytesMax
            }
        }
        size = min(size, Limits.congestionWindowMax)
    }

    /// A segment is no longer in flight, by loss or because its record was given up.
    public mutating func left(_ byteCount: Int) { inFlight = max(0, inFlight - byteCount) }

    /// Segments were lost, the last of them sent at `sentAt`.
    public mutating func lost(sentAt: Instant, isPersistent: Bool, now: Instant) {
        if recoveryStart.map({ sentAt > $0 }) ?? true {
            recoveryStart = now
            acknowledgedBytes = 0
            threshold = max(size / 2, Limits.congestionWindowMin)
            size = threshold
        }
        if isPersistent {
            recoveryStart = nil
            size = Limits.congestionWindowMin
        }
    }

    /// Lets credit grow at 5/4 of a window in a round trip, up to one burst.
    public mutating func refill(smoothed: Duration, now: Instant) {
        guard let since = creditAt else { return creditAt = now }
        let elapsed = min(max(0, (now - since).nanoseconds), 1_000_000_000)
        let grown = elapsed * Int64(size) / max(1, smoothed.nanoseconds / 5 * 4)
        // Less than a byte waits for more time.
        guard grown > 0 || now < since else { return }
        creditAt = now
        credit = min(Limits.paceBurst, credit + Int(min(grown, Int64(Limits.paceBurst))))
    }

    /// Whether the pace allows a segment now.
    public var hasCredit: Bool { credit >= Limits.segmentBytesMax }

    /// When half a burst, or half a smaller window, is allowed again.
    public func creditDeadline(smoothed: Duration) -> Instant? {
        guard let creditAt else { return nil }
        let missing = Int64(max(0, min(Limits.paceBurst, size) / 2 - credit))
        let roundTrip = max(1, min(smoothed.nanoseconds, 60_000_000_000))
        return creditAt + .nanoseconds(missing * roundTrip / Int64(size) / 5 * 4 + 1)
    }
}

extension Limits {
    /// Ten segments (RFC 9002 §7.2).
    public static let congestionWindowInitial = 10 * segmentBytesMax
    /// Two segments (RFC 9002 §7.2).
    public static let congestionWindowMin = 2 * segmentBytesMax
    static let congestionWindowMax = 1 << 20
    /// What may leave at once (RFC 9002 §7.7).
    static let paceBurst = 10 * segmentBytesMax
}
