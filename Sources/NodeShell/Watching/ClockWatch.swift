import NearbyCore
import NearbyLinux
import Telemetry

/// What this machine knows of UTC: read at the start, once a minute, and when the wall clock was
/// set.
final class ClockWatch {
    private let loop: EventLoop
    private let changes: ClockChangeSource
    private var timer: EventLoop.TimerID?
    private var tell: ((ClockReading, Instant) -> Void)?

    init(_ loop: EventLoop) throws(SystemError) {
        self.loop = loop
        changes = try ClockChangeSource()
    }

    func start(_ tell: @escaping (ClockReading, Instant) -> Void) throws(SystemError) {
        self.tell = tell
        try loop.register(changes) { [unowned self] in read(MonotonicClock.now()) }
        timer = loop.addTimer { [unowned self] in read($0) }
        read(MonotonicClock.now())
    }

    private func read(_ now: Instant) {
        tell?(ClockReading(WallClock.read()), now)
        if let timer { loop.set(timer, to: now + .seconds(60)) }
    }
}
