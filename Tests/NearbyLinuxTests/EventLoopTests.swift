import Glibc
import NearbyCore
import NearbyLinux
import Testing

@Suite struct EventLoopTests {
    @Test func timersRunInTheirTimeAndOnce() throws {
        let loop = try EventLoop()
        let start = MonotonicClock.now()
        var runs: [Instant] = []
        let timer = loop.addTimer { runs.append($0) }
        loop.set(timer, to: start + .microseconds(3_300))
        try loop.run(until: start + .milliseconds(20))
        #expect(runs.count == 1)
        #expect(runs.allSatisfy { $0 >= start + .microseconds(3_300) })
        #expect(MonotonicClock.now() >= start + .milliseconds(20))
    }

    @Test func aTimerMaySetItselfAgainAndMayBeTakenBack() throws {
        let loop = try EventLoop()
        var count = 0
        var again: EventLoop.TimerID?
        let never = loop.addTimer { _ in count += 100 }
        let timer = loop.addTimer { now in
            count += 1
            if count == 3 { loop.stop() } else if let again { loop.set(again, to: now) }
            loop.set(never, to: nil)
        }
        again = timer
        loop.set(timer, to: .zero)
        loop.set(never, to: MonotonicClock.now() + .seconds(10))
        try loop.run()
        #expect(count == 3)
    }

    @Test func theTimerThatTakesARemovedOnesPlaceIsAnother() throws {
        let loop = try EventLoop()
        var runs: [String] = []
        let removed = loop.addTimer { _ in runs.append("removed") }
        loop.set(removed, to: .zero)
        loop.removeTimer(removed)
        let successor = loop.addTimer { _ in runs.append("successor") }
        loop.set(removed, to: .zero)
        try loop.run(until: MonotonicClock.now() + .milliseconds(2))
        #expect(runs == [])
        loop.removeTimer(removed)
        loop.set(successor, to: .zero)
        try loop.run(until: MonotonicClock.now() + .milliseconds(2))
        #expect(runs == ["successor"])
    }

    @Test func removedTimersLeaveRoomForAsManyAsOneLikes() throws {
        let loop = try EventLoop()
        var runs = 0
        for _ in 0..<Limits.loopTimersMax * 3 {
            loop.removeTimer(loop.addTimer { _ in })
        }
        let timers = (0..<Limits.loopTimersMax).map { _ in loop.addTimer { _ in runs += 1 } }
        for timer in timers { loop.set(timer, to: .zero) }
        try loop.run(until: MonotonicClock.now() + .milliseconds(2))
        #expect(runs == Limits.loopTimersMax)
    }

    @Test func aTimerMayBeRemovedWithinItsOwnRunAndWithinAnothers() throws {
        let loop = try EventLoop()
        var runs: [Int] = []
        var timers: [EventLoop.TimerID] = []
        for number in 0..<3 {
            timers.append(
                loop.addTimer { _ in
                    runs.append(number)
                    for timer in timers { loop.removeTimer(timer) }
                })
        }
        for timer in timers { loop.set(timer, to: .zero) }
        try loop.run(until: MonotonicClock.now() + .milliseconds(2))
        #expect(runs == [0])
    }

    @Test func aDescriptorThatStaysReadableDoesNotStarveTimers() throws {
        let pipe = try Pipe()
        pipe.write([1])
        let loop = try EventLoop()
        var served = 0
        try loop.register(pipe.reader) { _ in served += 1 }
        let timer = loop.addTimer { _ in loop.stop() }
        loop.set(timer, to: MonotonicClock.now() + .milliseconds(5))
        try loop.run(until: MonotonicClock.now() + .seconds(10))
        #expect(served > 1)
    }

    @Test func aHandlerThatWasTakenOutWithinThePassDoesNotRun() throws {
        let pipes = try [Pipe(), Pipe()]
        let loop = try EventLoop()
        var served: [Int] = []
        for (index, pipe) in pipes.enumerated() {
            pipe.write([1])
            try loop.register(pipe.reader) { _ in
                served.append(index)
                loop.unregister(pipes[0].reader)
                loop.unregister(pipes[1].reader)
            }
        }
        try loop.run(until: MonotonicClock.now() + .milliseconds(5))
        #expect(served.count == 1)
    }

    @Test func interestCanBeChanged() throws {
        let pipe = try Pipe()
        let loop = try EventLoop()
        var readiness: [EventLoop.Readiness] = []
        try loop.register(pipe.writer, for: []) {
            readiness.append($0)
            loop.stop()
        }
        try loop.run(until: MonotonicClock.now() + .milliseconds(2))
        #expect(readiness == [])
        try loop.setInterest(.writable, of: pipe.writer)
        try loop.run(until: MonotonicClock.now() + .seconds(5))
        #expect(readiness == [.writable])
    }

    @Test func aClosedOtherEndIsAHangup() throws {
        let pipe = try Pipe()
        let loop = try EventLoop()
        var readiness: EventLoop.Readiness = []
        try loop.register(pipe.reader) {
            readiness = $0
            loop.stop()
        }
        pipe.closeWriter()
        try loop.run(until: MonotonicClock.now() + .seconds(5))
        #expect(readiness.contains(.hangup))
    }

    @Test func stopBeforeRunIsNotLost() throws {
        let loop = try EventLoop()
        loop.stop()
        try loop.run()
    }

    @Test func aDescriptorThatIsNoneIsATypedError() throws {
        let loop = try EventLoop()
        #expect(throws: SystemError.self) { try loop.register(9_999) { _ in } }
    }

    @Test func signalsComeAsEvents() throws {
        let signals = try Thread {
            let loop = try EventLoop()
            let source = try SignalSource([SIGHUP, SIGTERM])
            var seen: [Int32] = []
            try loop.register(source) {
                seen.append($0)
                if seen.count == 2 { loop.stop() }
            }
            pthread_kill(pthread_self(), SIGHUP)
            pthread_kill(pthread_self(), SIGTERM)
            try loop.run(until: MonotonicClock.now() + .seconds(5))
            return seen
        }.join()
        #expect(signals.sorted() == [SIGHUP, SIGTERM])
    }
}

/// Both ends of a pipe.
final class Pipe {
    let reader: Int32
    let writer: Int32
    private var isWriterClosed = false

    init() throws {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw SystemError(call: "pipe", code: errno) }
        (reader, writer) = (ends[0], ends[1])
    }

    deinit {
        close(reader)
        closeWriter()
    }

    func write(_ bytes: [UInt8]) { _ = Glibc.write(writer, bytes, bytes.count) }

    func closeWriter() {
        if !isWriterClosed { close(writer) }
        isWriterClosed = true
    }
}
