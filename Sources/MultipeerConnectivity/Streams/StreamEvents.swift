import Foundation

/// Brings a stream's events to its delegate, on the run loops where it is scheduled.
///
/// Linux's Foundation offers no run loop sources; a timer that is never due keeps the loop alive,
/// and is made due from any thread when there is something to tell.
final class StreamEvents: @unchecked Sendable {
    private struct Schedule {
        var loop: RunLoop
        var mode: RunLoop.Mode
        var timer: Timer
    }

    private let lock = NSLock()
    private var schedules: [Schedule] = []

    /// - Parameter tell: Called on the loop's thread when there is something to tell. Held as long
    ///   as the stream is scheduled.
    func schedule(
        in loop: RunLoop, forMode mode: RunLoop.Mode, tell: @escaping @Sendable () -> Void
    ) {
        let timer = Timer(
            fire: Date(timeIntervalSinceNow: Self.never), interval: Self.never, repeats: true
        ) { _ in tell() }
        loop.add(timer, forMode: mode)
        lock.lock()
        schedules.append(Schedule(loop: loop, mode: mode, timer: timer))
        lock.unlock()
        wake()
    }

    func remove(from loop: RunLoop, forMode mode: RunLoop.Mode) {
        lock.lock()
        defer { lock.unlock() }
        for entry in schedules where entry.loop === loop && entry.mode == mode {
            entry.timer.invalidate()
        }
        schedules.removeAll { !$0.timer.isValid }
    }

    func removeAll() {
        lock.lock()
        defer { lock.unlock() }
        for entry in schedules { entry.timer.invalidate() }
        schedules = []
    }

    /// There may be something to tell.
    func wake() {
        lock.lock()
        defer { lock.unlock() }
        for entry in schedules { entry.timer.fireDate = Date() }
    }

    /// Three years, in seconds.
    private static let never: TimeInterval = 1e8
}

extension Stream {
    /// Tells the delegate event after event, until there is none; a delegate that leaves something
    /// over is told again later, so that it does not keep the loop to itself.
    func tellEvents(_ events: StreamEvents, next: () -> Event?) {
        for _ in 0..<16 {
            guard let event = next() else { return }
            delegate?.stream(self, handle: event)
        }
        events.wake()
    }
}
