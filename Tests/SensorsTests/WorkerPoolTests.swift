import Glibc
import NearbyCore
import NearbyLinux
import Synchronization
import Testing

@testable import Sensors

/// With real threads, and a program that waits at a FIFO.
struct WorkerPoolTests {
    private final class Log: Sendable {
        private let entries = Mutex<[String]>([])

        func add(_ entry: String) { entries.withLock { $0.append(entry) } }

        var all: [String] { entries.withLock { $0 } }
    }

    @Test func aSensorThatBlocksLeavesTheOtherWorkerFree() {
        let folder = TemporaryFolder()
        let fifo = folder.fifo("sensor")
        let pool = WorkerPool()
        let log = Log()
        let began = milliseconds()
        let sensor = CommandDriver(
            run: ["/bin/cat", fifo], timeLimit: .seconds(60), channel: "a", unit: "1")
        let isTaken = pool.run {
            log.add("fifo \(sensor.sample().count)")
        }
        #expect(isTaken)
        #expect(milliseconds() - began < 50, "the caller is not delayed")
        for index in 0..<20 { #expect(pool.run { log.add("\(index)") }) }
        #expect(wait(upTo: 10_000) { log.all.count == 20 })
        let inOrder = (0..<20).map { "\($0)" }
        #expect(log.all == inOrder, "one free worker keeps the order")
        #expect(sensor.fault == nil, "status does not wait for it")
        let writer = open(fifo, O_WRONLY | O_CLOEXEC)
        _ = write(writer, "21.5\n", 5)
        close(writer)
        #expect(wait(upTo: 10_000) { log.all.last == "fifo 1" })
    }

    @Test func thoseThatHangDelayNobody() {
        let pool = WorkerPool()
        let log = Log()
        let gate = Gate()
        for index in 0..<10 {
            #expect(
                pool.run {
                    gate.wait(); log.add("hung \(index)")
                })
        }
        #expect(pool.run { log.add("quick") })
        #expect(wait(upTo: 10_000) { log.all == ["quick"] })
        #expect(gate.waiting == 10)
        gate.open()
        #expect(wait(upTo: 10_000) { log.all.count == 11 })
    }

    @Test func atMostSoManyJobsRunAtOnceAndTheQueueIsBounded() {
        let pool = WorkerPool(threads: 2, most: 2)
        let log = Log()
        let gate = Gate()
        for index in 0..<2 {
            #expect(
                pool.run {
                    gate.wait(); log.add("blocked \(index)")
                })
        }
        #expect(wait(upTo: 10_000) { gate.waiting == 2 })
        var taken = 0
        while pool.run({ log.add("queued") }) {
            taken += 1
            guard taken <= WorkerPool.jobsMax else { break }
        }
        #expect(taken == WorkerPool.jobsMax)
        #expect(log.all.isEmpty, "both workers are busy")
        gate.open()
        #expect(wait(upTo: 10_000) { log.all.count == 2 + WorkerPool.jobsMax })
        #expect(pool.run { log.add("last") })
        #expect(wait(upTo: 10_000) { log.all.last == "last" })
    }

    private final class Gate: Sendable {
        private let state = Mutex((isOpen: false, waiting: 0))

        var waiting: Int { state.withLock { $0.waiting } }

        func open() { state.withLock { $0.isOpen = true } }

        func wait() {
            state.withLock { $0.waiting += 1 }
            while !state.withLock({ $0.isOpen }) { usleep(1_000) }
        }
    }
}
