import NearbyCore
import NearbyEngine

/// How much may be under way: NewReno with pacing as in RFC 9002 §7, and besides
///
/// - a brake: where a queue of ours grows, the window is set to what fits without it;
/// - a way back: where all that seemed lost arrived after all, the loss has not happened.
struct TransferWindow: Sendable {
    /// Bytes that may be under way.
    private(set) var size = Limits.transferWindowInitial
    /// Bytes under way, counted by the owner's calls.
    private(set) var inFlight = 0

    private var threshold = Int.max
    /// In slow start, a queue was seen once: the window grows at a quarter of the pace (RFC 9406).
    private var isCautious = false
    /// Acknowledged in congestion avoidance since the last step.
    private var acknowledgedBytes = 0
    /// Losses and acknowledgements of what was sent before belong to the recovery under way.
    private var recoveryStart: Instant?
    private var before: BeforeLoss?
    /// Rounds without queue or loss, in a row.
    private var clearCount = 0
    /// Whether the window, or the pace that follows from it, is what holds us up (RFC 9002 §7.8).
    var isLimiting = false
    /// Messages are under way beside: bursts are small, so that none waits for a long one.
    var isShared = false
    private var credit = Limits.transferBurst
    private var creditAt: Instant?

    private struct BeforeLoss {
        var size: Int
        var threshold: Int
        /// Packets of this recovery that have not arrived so far.
        var missingCount: Int
    }

    /// Whether so many bytes fit now; the pace is another question.
    func admits(_ byteCount: Int) -> Bool { inFlight + byteCount <= size }

    private var isInSlowStart: Bool { size < threshold }

    mutating func sent(_ byteCount: Int) {
        inFlight += byteCount
        credit = max(0, credit - byteCount)
    }

    /// A packet sent at `sentAt` arrived.
    mutating func acknowledged(_ byteCount: Int, sentAt: Instant) {
        inFlight = max(0, inFlight - byteCount)
        if let recoveryStart, sentAt <= recoveryStart { return }
        guard isLimiting else { return }
        if isInSlowStart {
            size += isCautious ? byteCount / 4 : byteCount
        } else {
            acknowledgedBytes += byteCount
            if acknowledgedBytes >= size {
                acknowledgedBytes -= size
                size += min(stepBytes, size / 8)
            }
        }
        size = min(size, Limits.transferWindowMax)
    }

    /// A packet is no longer under way.
    mutating func left(_ byteCount: Int) { inFlight = max(0, inFlight - byteCount) }

    /// Packets were lost, the last of them sent at `sentAt`.
    mutating func lost(_ count: Int, sentAt: Instant, isPersistent: Bool, now: Instant) {
        if recoveryStart.map({ sentAt > $0 }) ?? true {
            before = BeforeLoss(size: size, threshold: threshold, missingCount: count)
            recoveryStart = now
            acknowledgedBytes = 0
            clearCount = 0
            threshold = max(size / 2, Limits.transferWindowMin)
            size = threshold
        } else {
            before?.missingCount += count
        }
        if isPersistent {
            before = nil
            recoveryStart = nil
            size = Limits.transferWindowMin
        }
    }

    /// Packets that counted as lost arrived after all.
    mutating func cameBack(_ count: Int) {
        before?.missingCount -= count
        guard let known = before, known.missingCount <= 0 else { return }
        size = max(size, known.size)
        threshold = max(threshold, known.threshold)
        recoveryStart = nil
        before = nil
    }

    // MARK: The brake

    /// A round without a queue.
    mutating func roundWasClear() {
        isCautious = false
        clearCount += 1
    }

    /// What a round trip in congestion avoidance adds: a packet; after rounds without a queue twice
    /// as much, and again, so that a fast path is found again soon (as Copa does, NSDI 2018).
    private var stepBytes: Int {
        Limits.messageBytesMax << max(0, min((clearCount - 4) / 2, 10))
    }

    /// Perhaps a queue: slow start goes on at a quarter of its pace (RFC 9406), the rest rests.
    mutating func beCautious() {
        isCautious = true
        clearCount = 0
    }

    /// A queue was seen twice.
    ///
    /// - Parameter fitting: bytes that can be under way without it.
    mutating func brake(fitting: Int) {
        // No more than a quarter at once, beyond slow start: a measurement may be wrong.
        let flight = min(size, inFlight)
        set(max(isInSlowStart ? flight / 2 : flight / 4 * 3, min(fitting, size)))
        isCautious = false
    }

    private mutating func set(_ bytes: Int) {
        size = min(max(bytes, Limits.transferWindowMin), Limits.transferWindowMax)
        threshold = size
        acknowledgedBytes = 0
        clearCount = 0
    }

    // MARK: The pace

    /// What may leave at once: ten packets (RFC 9002 §7.7), and on a fast path what the pace allows
    /// in half a millisecond, since each burst wakes both sides once. Beside messages, three.
    func burst(smoothed: Duration) -> Int {
        if isShared { return Limits.transferBurstShared }
        let quantum = Int64(size) * 500_000 / max(1, smoothed.nanoseconds / 5 * 4)
        return Int(min(max(quantum, Int64(Limits.transferBurst)), Int64(Limits.transferBurstMax)))
    }

    /// Lets credit grow at 5/4 of a window in a round trip, up to one burst.
    mutating func refill(smoothed: Duration, now: Instant) {
        guard let since = creditAt else { return creditAt = now }
        let elapsed = min(max(0, (now - since).nanoseconds), 1_000_000_000)
        let grown = elapsed * Int64(size) / max(1, smoothed.nanoseconds / 5 * 4)
        // Less than a byte waits for more time.
        guard grown > 0 || now < since else { return }
        creditAt = now
        let burst = burst(smoothed: smoothed)
        credit = min(burst, credit + Int(min(grown, Int64(burst))))
    }

    /// Whether the pace allows a packet now.
    var hasCredit: Bool { credit >= Limits.messageBytesMax }

    /// When half a burst, or half a smaller window, is allowed again.
    func creditDeadline(smoothed: Duration) -> Instant? {
        guard let creditAt else { return nil }
        let missing = Int64(max(0, min(burst(smoothed: smoothed), size) / 2 - credit))
        let roundTrip = max(1, min(smoothed.nanoseconds, 60_000_000_000))
        return creditAt + .nanoseconds(missing * roundTrip / Int64(size) / 5 * 4 + 1)
    }
}

extension Limits {
    /// Ten packets (RFC 9002 §7.2).
    static let transferWindowInitial = 10 * messageBytesMax
    /// Four packets, so that the three behind a lost one tell of it (RFC 9002 §7.2 has two).
    static let transferWindowMin = 4 * messageBytesMax
    static let transferWindowMax = 1 << 20
    /// What may leave at once (RFC 9002 §7.7), and on a fast path.
    static let transferBurst = 10 * messageBytesMax
    static let transferBurstMax = 40 * messageBytesMax
    /// The same while messages pass.
    static let transferBurstShared = 3 * messageBytesMax
}
