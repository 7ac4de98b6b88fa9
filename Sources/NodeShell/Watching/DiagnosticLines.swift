import NearbyCore
import NearbyEngine
import NearbyLinux

/// What a node diagnoses, in the log: refusals that repeat are written as sums.
final class DiagnosticLines {
    private let loop: EventLoop
    private let log: StandardErrorLog
    private var refusals = RefusalLog()
    private var timer: EventLoop.TimerID?

    init(_ loop: EventLoop, _ log: StandardErrorLog) {
        self.loop = loop
        self.log = log
    }

    func write(_ diagnostic: Node.Diagnostic, of runner: NodeRunner, now: Instant) {
        let line = diagnostic.text(runner)
        guard case .refused(let peer, let reason, let endpoint, _) = diagnostic else {
            return log.write(diagnostic.level, line)
        }
        handle(.refused(peer, reason, at: endpoint, line: line), now: now)
    }

    private func handle(_ input: RefusalLog.Input, now: Instant) {
        for case .write(let line) in refusals.handle(input, now: now) { log.write(.warning, line) }
        let timer =
            timer ?? loop.addTimer { [unowned self] in handle(.deadlineReached, now: $0) }
        self.timer = timer
        loop.set(timer, to: refusals.nextDeadline)
    }
}
