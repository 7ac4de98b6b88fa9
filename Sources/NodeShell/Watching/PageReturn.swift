import NearbyCore
import NearbyLinux

/// Gives pages that were loaded for a while back to the system.
final class PageReturn {
    private let loop: EventLoop
    private let startedAt: Instant
    private var timer: EventLoop.TimerID?
    private var isPlanned = false

    init(_ loop: EventLoop, startedAt: Instant) {
        self.loop = loop
        self.startedAt = startedAt
    }

    /// When what belongs to the start is over and the first neighbours are admitted; and again
    /// when a library has worked that rests afterwards, at most once a second.
    func releaseLater() {
        guard !isPlanned else { return }
        isPlanned = true
        let timer =
            timer
            ?? loop.addTimer { [unowned self] _ in
                isPlanned = false
                LoadedPages.release()
            }
        self.timer = timer
        loop.set(timer, to: max(startedAt + .seconds(5), MonotonicClock.now() + .seconds(1)))
    }
}
