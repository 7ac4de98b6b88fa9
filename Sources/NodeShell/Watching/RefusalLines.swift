import NearbyCore
import NearbyLinux

/// Refusals in the log: those that repeat are written as sums.
final class RefusalLines {
    private let loop: EventLoop
    private let log: StandardErrorLog
    private var refusals = RefusalLog()
    private var timer: EventLoop.TimerID?

    init(_ loop: EventLoop, _ log: StandardErrorLog) {
        self.loop = loop
        self.log = log
    }

    func handle(_ input: RefusalLog.Input, now: Instant) {
        for case .write(let line) in refusals.handle(input, now: now) { log.write(.warning, line) }
        let timer =
            timer ?? loop.addTimer { [unowned self] in handle(.deadlineReached, now: $0) }
        self.timer = timer
        loop.set(timer, to: refusals.nextDeadline)
    }
}
