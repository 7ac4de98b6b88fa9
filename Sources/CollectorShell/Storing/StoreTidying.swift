import NearbyCore
import NearbyLinux
import Store
import Telemetry

/// Tidies a store in pieces, between what the thread is given. Owns what was told of it.
struct StoreTidying {
    /// Pieces of tidying after each commit, where the next one waits already.
    private static let roundsMax = 4
    /// No further piece is begun after so long, whether anything waits or not.
    private static let time: Duration = .milliseconds(200)

    private let answers: Mailbox<StoreThread.Answer>
    private var holds = Store.Holds()
    /// What was told last, until it went well again.
    private var fault: String?

    init(_ answers: Mailbox<StoreThread.Answer>) { self.answers = answers }

    /// A few short pieces, and more while nobody waits: the next commit is a second away.
    mutating func tidy(
        _ store: Store, _ clock: ClockReading, hasWaiting: () -> Bool
    ) throws(StoreError) {
        let end = MonotonicClock.now() + Self.time
        var rounds = 0
        while rounds == 0
            || MonotonicClock.now() < end && (rounds < Self.roundsMax || !hasWaiting())
        {
            rounds += 1
            let report = try store.tidy(now: MonotonicClock.now(), clock: clock)
            if report.holds != holds {
                holds = report.holds
                _ = answers.post(.holds(holds))
            }
            for line in report.damagedBlocks { _ = answers.post(.damaged(line)) }
            if report.isDone { break }
        }
        fault = nil
    }

    /// The same text is told once: it may come with each commit.
    mutating func tell(fault text: String) {
        guard text != fault else { return }
        fault = text
        _ = answers.post(.untidy(text))
    }
}
