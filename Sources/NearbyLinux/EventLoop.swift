import CLinux
import Glibc
import NearbyCore

extension Limits {
    /// Descriptors that one pass of the event loop serves before it looks at the timers.
    static let eventsPerPassMax = 64
    /// Timers of one event loop: a handful for an agent, three for each peer of a session.
    public static let loopTimersMax = 4_096
}

/// One epoll, one thread: serves descriptors and timers until it is stopped.
///
/// Every handler runs on the thread that calls `run`, must not block and bounds its own work:
/// readiness is level-triggered, so what it leaves comes again in the next pass. Expired timers run
/// after at most `Limits.eventsPerPassMax` handlers, so a flood on a socket cannot starve them.
public final class EventLoop {
    /// What a descriptor is ready for.
    public struct Readiness: OptionSet, Sendable {
        public let rawValue: UInt8

        public init(rawValue: UInt8) { self.rawValue = rawValue }

        public static let readable = Readiness(rawValue: 1)
        public static let writable = Readiness(rawValue: 2)
        /// Error, or the other side is gone. Reported whether asked for or not.
        public static let hangup = Readiness(rawValue: 4)
    }

    /// Names a timer of this loop; nothing any more once the timer was removed.
    public struct TimerID: Hashable, Sendable {
        fileprivate let index: Int
        fileprivate let serial: UInt64
    }

    private struct Registration {
        let descriptor: Int32
        let handler: (Readiness) -> Void
    }

    private struct Timer {
        /// Tells this timer from those that had its place before.
        let serial: UInt64
        var deadline: Instant?
        /// When the pass began that set it: a deadline before that is not late until then.
        var setAt = Instant.zero
        let handler: (Instant) -> Void
    }

    private let epoll: FileDescriptor
    private let alarm: FileDescriptor
    private var alarmSetting: Instant?
    /// By token, never by descriptor: a number may be closed and reused within one pass.
    private var registrations: [UInt64: Registration] = [:]
    private var tokens: [Int32: UInt64] = [:]
    private var lastToken: UInt64 = 0
    /// By index; nil: free for the next one.
    private var timers: [Timer?] = []
    private var lastTimerSerial: UInt64 = 0
    private var isStopped = false
    private var passBegan = Instant.zero
    /// The most that a timer has run after its time: how long something else held the thread.
    public private(set) var worstLateness = Duration.zero

    private static let alarmToken: UInt64 = 0

    public init() throws(SystemError) {
        epoll = try FileDescriptor(
            taking: epoll_create1(Int32(EPOLL_CLOEXEC)), from: "epoll_create1")
        alarm = try FileDescriptor(
            taking: timerfd_create(CLOCK_BOOTTIME, Int32(TFD_CLOEXEC | TFD_NONBLOCK)),
            from: "timerfd_create")
        try control(EPOLL_CTL_ADD, alarm.raw, [.readable], token: Self.alarmToken)
    }

    // MARK: Descriptors

    /// Calls `handler` whenever the descriptor is ready for `interest`. The descriptor stays the
    /// caller's.
    public func register(
        _ descriptor: Int32, for interest: Readiness = .readable,
        handler: @escaping (Readiness) -> Void
    ) throws(SystemError) {
        lastToken += 1
        try control(EPOLL_CTL_ADD, descriptor, interest, token: lastToken)
        tokens[descriptor] = lastToken
        registrations[lastToken] = Registration(descriptor: descriptor, handler: handler)
    }

    /// Changes what a registered descriptor waits for.
    public func setInterest(_ interest: Readiness, of descriptor: Int32) throws(SystemError) {
        guard let token = tokens[descriptor] else {
            throw SystemError(call: "setInterest \(descriptor)", code: ENOENT)
        }
        try control(EPOLL_CTL_MOD, descriptor, interest, token: token)
    }

    /// Forgets a descriptor; to be called before it is closed. Its handler does not run again.
    public func unregister(_ descriptor: Int32) {
        guard let token = tokens.removeValue(forKey: descriptor) else { return }
        registrations[token] = nil
        epoll_ctl(epoll.raw, EPOLL_CTL_DEL, descriptor, nil)
    }

    // MARK: Timers

    /// A timer that is not set. Its handler gets the time at which it runs.
    public func addTimer(_ handler: @escaping (Instant) -> Void) -> TimerID {
        lastTimerSerial += 1
        let timer = Timer(serial: lastTimerSerial, deadline: nil, handler: handler)
        if let free = timers.firstIndex(where: { $0 == nil }) {
            timers[free] = timer
            return TimerID(index: free, serial: lastTimerSerial)
        }
        precondition(
            timers.count < Limits.loopTimersMax, "\(timers.count) timers on one event loop")
        timers.append(timer)
        return TimerID(index: timers.count - 1, serial: lastTimerSerial)
    }

    /// Lets the timer run once at `deadline`, or never: nil. A deadline that has passed runs in
    /// this pass or the next.
    public func set(_ timer: TimerID, to deadline: Instant?) {
        guard timers[timer.index]?.serial == timer.serial else { return }
        timers[timer.index]?.deadline = deadline
        timers[timer.index]?.setAt = passBegan
    }

    /// Forgets a timer; its handler does not run again. Another may have its place.
    public func removeTimer(_ timer: TimerID) {
        if timers[timer.index]?.serial == timer.serial { timers[timer.index] = nil }
    }

    // MARK: Running

    /// Serves until `stop` or until `end`.
    public func run(until end: Instant = .distantFuture) throws(SystemError) {
        defer { isStopped = false }
        while !isStopped, MonotonicClock.now() < end { try pass(until: end) }
    }

    /// Lets `run` return after the present pass; called before `run`, that `run` returns at once.
    public func stop() { isStopped = true }

    private func pass(until end: Instant) throws(SystemError) {
        let deadline = timers.reduce(end) { min($0, $1?.deadline ?? .distantFuture) }
        try withUnsafeTemporaryAllocation(
            of: epoll_event.self, capacity: Limits.eventsPerPassMax
        ) { events -> Result<Void, SystemError> in
            do throws(SystemError) {
                let count = try wait(until: deadline, events)
                passBegan = MonotonicClock.now()
                for event in events.prefix(count) {
                    serve(event.data.u64, Self.readiness(event.events))
                }
                return .success(())
            } catch {
                return .failure(error)
            }
        }.get()
        let now = MonotonicClock.now()
        for index in timers.indices {
            guard let timer = timers[index], let deadline = timer.deadline, deadline <= now
            else { continue }
            timers[index]?.deadline = nil
            worstLateness = max(worstLateness, now - max(deadline, timer.setAt))
            timer.handler(now)
        }
    }

    private func serve(_ token: UInt64, _ readiness: Readiness) {
        if token == Self.alarmToken {
            var expirations: UInt64 = 0
            read(alarm.raw, &expirations, 8)
            alarmSetting = nil
        } else {
            registrations[token]?.handler(readiness)
        }
    }

    /// Returns how many events there are.
    private func wait(
        until deadline: Instant, _ events: UnsafeMutableBufferPointer<epoll_event>
    ) throws(SystemError) -> Int {
        let timeout: Int32 = deadline <= MonotonicClock.now() ? 0 : -1
        if timeout != 0 { try setAlarm(to: deadline) }
        guard let first = events.baseAddress else { return 0 }
        let count = epoll_wait(epoll.raw, first, Int32(events.count), timeout)
        if count < 0, errno != EINTR { throw .last("epoll_wait") }
        return max(0, Int(count))
    }

    /// A timerfd rather than epoll's timeout: nanoseconds, and it counts time spent in suspend.
    private func setAlarm(to deadline: Instant) throws(SystemError) {
        guard deadline != alarmSetting else { return }
        var setting = itimerspec()
        if deadline != .distantFuture {
            let nanoseconds = max(1, deadline.nanoseconds)
            setting.it_value.tv_sec = Int(nanoseconds / 1_000_000_000)
            setting.it_value.tv_nsec = Int(nanoseconds % 1_000_000_000)
        }
        let flags = Int32(TFD_TIMER_ABSTIME)
        guard timerfd_settime(alarm.raw, flags, &setting, nil) == 0 else {
            throw .last("timerfd_settime")
        }
        alarmSetting = deadline
    }

    private func control(
        _ operation: Int32, _ descriptor: Int32, _ interest: Readiness, token: UInt64
    ) throws(SystemError) {
        var event = epoll_event()
        if interest.contains(.readable) { event.events |= EPOLLIN.rawValue }
        if interest.contains(.writable) { event.events |= EPOLLOUT.rawValue }
        event.data.u64 = token
        guard epoll_ctl(epoll.raw, operation, descriptor, &event) == 0 else {
            throw .last("epoll_ctl \(descriptor)")
        }
    }

    private static func readiness(_ events: UInt32) -> Readiness {
        var result: Readiness = []
        if events & EPOLLIN.rawValue != 0 { result.insert(.readable) }
        if events & EPOLLOUT.rawValue != 0 { result.insert(.writable) }
        if events & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 { result.insert(.hangup) }
        return result
    }
}
