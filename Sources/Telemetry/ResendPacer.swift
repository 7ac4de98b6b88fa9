import NearbyCore

/// How fast readings are sent again, and when those on their way are given up.
///
/// Receipts are the acknowledgements of a window that counts reports (RFC 5681's slow start and
/// halving, with the commit interval for a round trip): each report that a receipt settles lets one
/// more be on its way, a loss halves the window. While no receipt comes at all, one report goes out
/// now and then to ask for one.
struct ResendPacer: Sendable {
    struct Flight: Sendable {
        var stretch: RunRange
        var sentAt: Instant
        var isResend: Bool
    }

    /// In the order of their sending.
    private(set) var flights: [Flight] = []
    private var resendCount = 0
    private var window = Limits.resendWindowFirst
    private var burst = Limits.resendBurst
    private var nextAt = Instant.zero
    private var lastReceipt: Instant?
    private var lastHalved = Instant.zero
    /// While receipts do not come: the time between two reports.
    private var silence: Duration?

    /// Whether a report may be sent again now.
    func maySend(now: Instant) -> Bool { resendCount < window && now >= nextAt }

    /// When the next may; meaningful while something waits.
    var nextSend: Instant? { resendCount < window ? nextAt : nil }

    var nextExpiry: Instant? { flights.first.map { $0.sentAt + Limits.receiptTimeout } }

    /// A report left. Those on their way are bounded by the time that they are followed for.
    mutating func sent(_ stretch: RunRange, isResend: Bool, now: Instant) {
        flights.append(Flight(stretch: stretch, sentAt: now, isResend: isResend))
        guard isResend else { return }
        resendCount += 1
        if let silence {
            nextAt = now + silence
        } else if burst > 1 {
            burst -= 1
        } else {
            nextAt = max(nextAt, now) + Limits.receiptTimeout / (4 * window)
        }
    }

    /// A receipt came. `isSettled` says of a stretch whether nothing of it is open any more.
    mutating func receiptCame(now: Instant, isSettled: (RunRange) -> Bool) {
        lastReceipt = now
        if silence != nil {
            silence = nil
            nextAt = now
            window = max(window, Limits.resendWindowFirst)
        }
        var confirmed = 0
        flights.removeAll { flight in
            guard isSettled(flight.stretch) else { return false }
            if flight.isResend { confirmed += 1 }
            return true
        }
        resendCount -= confirmed
        window = min(window + confirmed, Limits.resendWindowMax)
    }

    /// The stretches that no receipt has settled in time: they are to be sent again.
    mutating func expire(now: Instant) -> [RunRange] {
        let count = flights.prefix { $0.sentAt + Limits.receiptTimeout <= now }.count
        guard count > 0 else { return [] }
        let expired = flights.prefix(count)
        flights.removeFirst(count)
        let resends = expired.count { $0.isResend }
        resendCount -= resends
        let first = expired.first?.sentAt ?? now
        if lastReceipt ?? .zero < first {
            guard silence == nil || resends > 0 else { return expired.map(\.stretch) }
            let pause = min((silence ?? .seconds(1)) * 2, Limits.resendSilenceMax)
            silence = pause
            window = 1
            nextAt = max(nextAt, now + pause)
        } else if resends > 0, now - lastHalved >= Limits.receiptTimeout {
            lastHalved = now
            window = max(2, window / 2)
        }
        return expired.map(\.stretch)
    }
}

extension Limits {
    /// How long a receipt is waited for before readings are sent again: three commits.
    static let receiptTimeout: Duration = .seconds(3)
    /// Reports on their way again, at first and at most.
    static let resendWindowFirst = 8
    static let resendWindowMax = 512
    /// Reports that go out together at first.
    static let resendBurst = 4
    /// The longest time between two reports while no receipt comes.
    static let resendSilenceMax: Duration = .seconds(30)
}
