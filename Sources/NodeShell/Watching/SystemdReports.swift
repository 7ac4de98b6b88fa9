import NearbyCore
import NearbyLinux

/// What systemd is told of the program, where it asked for it.
final class SystemdReports {
    private let loop: EventLoop
    private let notifier = SystemdNotifier()
    private var watchdog: EventLoop.TimerID?

    init(_ loop: EventLoop) { self.loop = loop }

    func ready() { _ = notifier.ready() }

    func reloading() { _ = notifier.reloading() }

    func stopping() { _ = notifier.stopping() }

    /// Says twice in each interval that the loop still turns.
    func startWatchdog() {
        guard let interval = notifier.watchdogInterval else { return }
        let timer = loop.addTimer { [unowned self] now in
            _ = notifier.watchdog()
            if let watchdog { loop.set(watchdog, to: now + interval / 2) }
        }
        watchdog = timer
        loop.set(timer, to: MonotonicClock.now())
    }
}
