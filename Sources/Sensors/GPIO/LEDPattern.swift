import NearbyCore

/// How a light shows what an agent is doing: by its rhythm, since it has one colour.
struct LEDPattern: Equatable, Sendable {
    let state: StatusLED.State
    let began: Instant

    /// Lit and dark for so long by turns, lit first; nil: lit for good.
    private var rhythm: (lit: Duration, dark: Duration)? {
        switch state {
        case .starting: (.milliseconds(100), .milliseconds(900))
        case .searching: (.milliseconds(500), .milliseconds(500))
        case .connected: nil
        case .fault: (.milliseconds(100), .milliseconds(100))
        }
    }

    func isLit(at now: Instant) -> Bool {
        guard let rhythm else { return true }
        return phase(at: now, rhythm) < rhythm.lit
    }

    /// When it changes next; nil: never.
    func nextChange(after now: Instant) -> Instant? {
        guard let rhythm else { return nil }
        let phase = phase(at: now, rhythm)
        return now + (phase < rhythm.lit ? rhythm.lit : rhythm.lit + rhythm.dark) - phase
    }

    private func phase(at now: Instant, _ rhythm: (lit: Duration, dark: Duration)) -> Duration {
        let whole = (rhythm.lit + rhythm.dark).nanoseconds
        return .nanoseconds(max(0, (now - began).nanoseconds) % whole)
    }
}
