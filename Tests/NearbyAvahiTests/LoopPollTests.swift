import CAvahi
import Glibc
import NearbyCore
import NearbyLinux
import Testing

@testable import NearbyAvahi

/// What the library would do with the table of functions.
@Suite struct LoopPollTests {
    let loop: EventLoop
    let poll: LoopPoll
    let record = Record()

    init() throws {
        loop = try EventLoop()
        poll = LoopPoll(loop: loop)
    }

    /// What was called back.
    final class Record {
        var calls: [AvahiWatchEvent] = []
        var expirations: [Instant] = []
        /// Carried out within the callback.
        var action: (() -> Void)?

        var handle: UnsafeMutableRawPointer { Unmanaged.passUnretained(self).toOpaque() }

        static func of(_ handle: UnsafeMutableRawPointer?) -> Record? {
            handle.map { Unmanaged.fromOpaque($0).takeUnretainedValue() }
        }
    }

    func watch(_ descriptor: Int32, _ events: AvahiWatchEvent, _ record: Record) -> OpaquePointer? {
        poll.api.pointee.watch_new(
            poll.api, descriptor, events,
            { _, _, events, record in
                Record.of(record)?.calls.append(events)
                Record.of(record)?.action?()
            }, record.handle)
    }

    func timeout(at time: timeval?) -> OpaquePointer? {
        let callback: AvahiTimeoutCallback = { _, record in
            Record.of(record)?.expirations.append(MonotonicClock.now())
            Record.of(record)?.action?()
        }
        guard var time else {
            return poll.api.pointee.timeout_new(poll.api, nil, callback, record.handle)
        }
        return poll.api.pointee.timeout_new(poll.api, &time, callback, record.handle)
    }

    /// The wall-clock time so many milliseconds from now.
    static func wall(after milliseconds: Int) -> timeval {
        var time = timeval()
        gettimeofday(&time, nil)
        let microseconds = time.tv_usec + milliseconds * 1_000
        return timeval(
            tv_sec: time.tv_sec + microseconds / 1_000_000, tv_usec: microseconds % 1_000_000)
    }

    func run(for duration: Duration) throws { try loop.run(until: MonotonicClock.now() + duration) }

    @Test func aTimeoutExpiresOnceInItsTime() throws {
        let start = MonotonicClock.now()
        let handle = timeout(at: Self.wall(after: 10))
        try run(for: .milliseconds(40))
        #expect(record.expirations.count == 1)
        let after = try #require(record.expirations.first) - start
        #expect(after > .milliseconds(8) && after < .milliseconds(40), "\(after)")
        poll.api.pointee.timeout_free(handle)
    }

    @Test func aTimeOfZeroIsAtOnceAndOneThatIsTakenBackNever() throws {
        let handle = timeout(at: nil)
        try run(for: .milliseconds(3))
        #expect(record.expirations.isEmpty)
        var time = timeval(tv_sec: 0, tv_usec: 0)
        poll.api.pointee.timeout_update(handle, &time)
        try run(for: .milliseconds(3))
        #expect(record.expirations.count == 1)
        poll.api.pointee.timeout_update(handle, &time)
        poll.api.pointee.timeout_update(handle, nil)
        try run(for: .milliseconds(3))
        #expect(record.expirations.count == 1)
        poll.api.pointee.timeout_free(handle)
    }

    @Test func aTimeoutMayFreeItselfAndManyMayFollow() throws {
        for round in 1...Limits.loopTimersMax * 2 {
            let handle = timeout(at: timeval(tv_sec: 0, tv_usec: 0))
            record.action = { [poll, loop] in
                poll.api.pointee.timeout_free(handle)
                loop.stop()
            }
            try run(for: .seconds(5))
            #expect(record.expirations.count == round)
        }
    }

    @Test func readingAndWritingOfOneDescriptorAreTwoWatches() throws {
        let (near, far) = try Self.pair()
        let writing = Record()
        let reader = watch(near, AVAHI_WATCH_IN, record)
        let writer = watch(near, AVAHI_WATCH_OUT, writing)
        writing.action = { [loop] in loop.stop() }
        try run(for: .seconds(5))
        #expect(writing.calls == [AVAHI_WATCH_OUT])
        #expect(record.calls == [])
        poll.api.pointee.watch_free(writer)
        record.action = { [loop] in loop.stop() }
        send(far, "x", 1, 0)
        try run(for: .seconds(5))
        #expect(record.calls == [AVAHI_WATCH_IN])
        #expect(writing.calls.count == 1)
        poll.api.pointee.watch_free(reader)
        try run(for: .milliseconds(2))
        #expect(record.calls.count == 1)
        close(near)
        close(far)
    }

    @Test func aWatchFreedByTheOtherOneIsNotServed() throws {
        let (near, far) = try Self.pair()
        let other = Record()
        let first = watch(near, AVAHI_WATCH_OUT, record)
        let second = watch(near, AVAHI_WATCH_OUT, other)
        record.action = { [poll] in
            poll.api.pointee.watch_free(first)
            poll.api.pointee.watch_free(second)
        }
        try run(for: .milliseconds(3))
        #expect(record.calls.count == 1)
        #expect(other.calls.isEmpty)
        // The descriptor is free for another registration.
        try loop.register(near) { _ in }
        close(near)
        close(far)
    }

    @Test func whatIsWaitedForCanBeChanged() throws {
        let (near, far) = try Self.pair()
        let handle = watch(near, AVAHI_WATCH_IN, record)
        try run(for: .milliseconds(2))
        #expect(record.calls.isEmpty)
        record.action = { [poll, loop] in
            #expect(poll.api.pointee.watch_get_events(handle) == AVAHI_WATCH_OUT)
            loop.stop()
        }
        poll.api.pointee.watch_update(handle, AVAHI_WATCH_OUT)
        try run(for: .seconds(5))
        #expect(record.calls == [AVAHI_WATCH_OUT])
        #expect(poll.api.pointee.watch_get_events(handle) == AvahiWatchEvent(0))
        poll.api.pointee.watch_free(handle)
        close(near)
        close(far)
    }

    @Test func theOtherEndGoingIsAHangup() throws {
        let (near, far) = try Self.pair()
        let handle = watch(near, AVAHI_WATCH_IN, record)
        record.action = { [loop] in loop.stop() }
        close(far)
        try run(for: .seconds(5))
        let events = try #require(record.calls.first).rawValue
        #expect(events & AVAHI_WATCH_HUP.rawValue != 0)
        poll.api.pointee.watch_free(handle)
        close(near)
    }

    @Test func aDescriptorThatCannotBeWatchedIsAWantOfMemory() {
        #expect(watch(9_999, AVAHI_WATCH_IN, record) == nil)
    }

    /// Two connected stream sockets, as libdbus has one.
    static func pair() throws -> (Int32, Int32) {
        var ends: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        return (ends[0], ends[1])
    }
}
