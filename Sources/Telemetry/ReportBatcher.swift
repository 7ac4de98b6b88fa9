import NearbyCore

/// Gathers readings into reports: a report is complete when the next reading does not fit, when its
/// oldest reading is `wait` old, or when it is flushed, because no other is expected by then.
struct ReportBatcher: Sendable {
    enum Input: Sendable {
        case entry(Report.Entry)
        case flush
        /// Forget the open report.
        case discard
        case deadlineReached
    }

    enum Output: Sendable {
        /// A report to be finished with the birth's number and sent.
        case complete(ReportEncoder)
    }

    private let bytesMax: Int
    private let wait: Duration
    private var open = ReportEncoder()
    private var oldestReading = Instant.distantFuture

    /// - Parameters:
    ///   - bytesMax: the size of a report, 64…`Limits.messageBytesMax` bytes; clamped.
    ///   - wait: how old the oldest reading of a report may grow; 0 sends each at once.
    init(bytesMax: Int, wait: Duration) {
        self.bytesMax = min(max(bytesMax, 64), Limits.messageBytesMax)
        self.wait = max(wait, .zero)
    }

    var nextDeadline: Instant? { open.count == 0 ? nil : oldestReading + wait }

    mutating func handle(_ input: Input, now: Instant) -> [Output] {
        var outputs: [Output] = []
        switch input {
        case .entry(let entry):
            if !open.append(entry, bytesMax: bytesMax) {
                outputs.append(.complete(takeOpen()))
                _ = open.append(entry, bytesMax: bytesMax)
            }
            let time = Instant(nanoseconds: entry.milliseconds &* 1_000_000)
            oldestReading = min(oldestReading, time, now)
            if wait == .zero { outputs.append(.complete(takeOpen())) }
        case .flush:
            if open.count > 0 { outputs.append(.complete(takeOpen())) }
        case .discard: _ = takeOpen()
        case .deadlineReached:
            if let nextDeadline, now >= nextDeadline { outputs.append(.complete(takeOpen())) }
        }
        return outputs
    }

    private mutating func takeOpen() -> ReportEncoder {
        defer {
            open = ReportEncoder()
            oldestReading = .distantFuture
        }
        return open
    }
}
