import Fleet
import NearbyCore
import Testing

@testable import Outputs

@Suite struct OutputMachineTests {
    private var machine = OutputMachine(seed: 1)

    private func at(_ seconds: Double) -> Instant {
        Instant(nanoseconds: Int64(seconds * 1_000_000_000))
    }

    private func page(
        _ count: Int, isMore: Bool = false, lag: Duration? = .seconds(1)
    ) -> OutputMachine.Input {
        var fetched = OutputMachine.Fetched()
        fetched.readingCount = count
        fetched.isMore = isMore
        fetched.hasMoved = count > 0
        fetched.lag = count > 0 ? lag : nil
        return .fetched(fetched)
    }

    private let delivered = OutputMachine.Input.delivered(OutputReceipt(), readingCount: 3)

    @Test mutating func aBatchIsFetchedDeliveredAndThenTheCursorMoves() {
        #expect(machine.handle(.start, now: at(0)) == [.fetch])
        #expect(machine.state == .starting)
        #expect(machine.handle(page(3), now: at(0)) == [.deliver])
        #expect(machine.handle(delivered, now: at(1)) == [.advance(batch: 1), .idle])
        #expect(machine.handle(.idled, now: at(1)) == [.fetch])
        #expect(machine.state == .current)
        // Nothing waits: a rest of a second, or until there is news.
        #expect(machine.handle(page(0), now: at(1)) == [.idle])
        #expect(machine.handle(.idled, now: at(1)) == [])
        #expect(machine.nextDeadline == at(2))
        #expect(machine.handle(.news, now: at(1.5)) == [.fetch])
        #expect(machine.handle(.news, now: at(1.5)) == [])
        #expect(machine.handle(page(0), now: at(1.5)) == [.idle])
        // The news that came meanwhile.
        #expect(machine.handle(.idled, now: at(1.5)) == [.fetch])
    }

    @Test mutating func whatIsPassedOverMovesTheCursorToo() {
        _ = machine.handle(.start, now: at(0))
        var fetched = OutputMachine.Fetched()
        fetched.hasMoved = true
        fetched.isMore = true
        #expect(machine.handle(.fetched(fetched), now: at(0)) == [.advance(batch: 1), .fetch])
    }

    @Test mutating func aFaultIsToldOnceAndTriedAgainMoreAndMoreSeldom() {
        _ = machine.handle(.start, now: at(0))
        let fault = OutputFault(.unavailable, "db:5432: connection refused")
        var now = at(0)
        var delays: [Double] = []
        for round in 0..<40 {
            #expect(machine.handle(page(3), now: now) == [.deliver])
            let told = machine.handle(.failed(fault), now: now)
            #expect(told == (round == 0 ? [.tell(.fault(fault.description))] : []))
            #expect(machine.state == .failing)
            let deadline = machine.nextDeadline ?? .distantFuture
            delays.append(Double((deadline - now).nanoseconds) / 1e9)
            #expect(machine.handle(.deadlineReached, now: now) == [])
            #expect(machine.handle(.news, now: now) == [])
            now = deadline
            #expect(machine.handle(.deadlineReached, now: now) == [.fetch])
        }
        for (delay, whole) in zip(delays, [1.0, 2, 4, 8, 16, 32, 60, 60]) {
            #expect(delay >= whole * 0.8 && delay <= whole)
        }
        #expect(delays.allSatisfy { $0 <= 60 })
        #expect(Set(delays.suffix(20)).count > 10)
        #expect(machine.fault?.since == at(0))
        _ = machine.handle(page(3), now: now)
        let outputs = machine.handle(delivered, now: now)
        #expect(
            outputs == [.advance(batch: 1), .tell(.works(after: now - at(0))), .idle])
        #expect(machine.fault?.since == nil)
        #expect(machine.state == .current)
    }

    @Test mutating func anotherFaultIsToldAndOneThatComesAndGoesIsNot() {
        _ = machine.handle(.start, now: at(0))
        var told: [OutputMachine.Output] = []
        for second in 0..<300 {
            let now = at(Double(second * 2))
            _ = machine.handle(page(3), now: now)
            told += machine.handle(.failed(OutputFault(.unavailable, "away")), now: now)
            _ = machine.handle(.deadlineReached, now: at(Double(second * 2) + 1))
            _ = machine.handle(page(3), now: now)
            told += machine.handle(delivered, now: now).filter {
                if case .tell = $0 { true } else { false }
            }
            _ = machine.handle(.kept(batch: .max), now: now)
            _ = machine.handle(.idled, now: now)
        }
        #expect(told == [.tell(.fault("away")), .tell(.works(after: .zero))])
        _ = machine.handle(page(3), now: at(599))
        let other = OutputFault(.refused, "no such user")
        #expect(machine.handle(.failed(other), now: at(599)) == [.tell(.fault("no such user"))])
    }

    /// A server that puts the time into all that it says fills nobody's log.
    @Test mutating func ofFaultsThatAreAlwaysOthersFewAreTold() {
        _ = machine.handle(.start, now: at(0))
        var now = at(0)
        var told: [Instant] = []
        while now < at(6_000) {
            _ = machine.handle(page(3), now: now)
            let fault = OutputFault(.refused, "no: it is \(now.nanoseconds)")
            if !machine.handle(.failed(fault), now: now).isEmpty { told.append(now) }
            #expect(machine.fault?.text == fault.description)
            now = machine.nextDeadline ?? .distantFuture
            _ = machine.handle(.deadlineReached, now: now)
        }
        #expect(told.count { $0 < at(600) } == OutputMachine.toldMax)
        #expect(told.count <= 10 * OutputMachine.toldMax)
        #expect(told.contains { $0 > at(5_000) })
    }

    @Test mutating func aStoreThatCannotBeReadIsAFaultToo() {
        _ = machine.handle(.start, now: at(0))
        #expect(machine.handle(.notFetched("busy"), now: at(0)) == [.tell(.fault("busy"))])
        #expect(machine.state == .failing)
    }

    @Test mutating func whatIsRefusedIsToldOnceForEachReason() {
        _ = machine.handle(.start, now: at(0))
        var receipt = OutputReceipt(refusedCount: 2, refusal: "out of range")
        receipt.remarks = ["two nodes are called a"]
        for round in 0..<3 {
            _ = machine.handle(page(3), now: at(1))
            let outputs = machine.handle(.delivered(receipt, readingCount: 3), now: at(1))
            let told = outputs.filter { if case .tell = $0 { true } else { false } }
            #expect(
                told
                    == (round == 0
                        ? [
                            .tell(.refused(2, "out of range")),
                            .tell(.remark("two nodes are called a")),
                        ] : []))
            _ = machine.handle(.idled, now: at(1))
        }
    }

    @Test mutating func itWaitsForTheStoreWhenTooMuchWouldComeAgain() {
        _ = machine.handle(.start, now: at(0))
        var fetches = 1
        for _ in 0..<Limits.outputBatchesUnkept {
            #expect(machine.handle(page(3, isMore: true), now: at(0)) == [.deliver])
            _ = machine.handle(delivered, now: at(0))
            if machine.handle(.idled, now: at(0)) == [.fetch] { fetches += 1 }
        }
        #expect(fetches == Limits.outputBatchesUnkept)
        #expect(machine.waitsForStore)
        #expect(machine.handle(.news, now: at(1)) == [])
        #expect(machine.handle(.deadlineReached, now: at(1)) == [])
        #expect(machine.handle(.kept(batch: 5), now: at(1)) == [.fetch])
    }

    @Test mutating func behindIsWhoHasOldReadingsToDeliver() {
        _ = machine.handle(.start, now: at(0))
        _ = machine.handle(page(3, isMore: true, lag: .seconds(60)), now: at(0))
        _ = machine.handle(delivered, now: at(0))
        #expect(machine.state == .behind)
        _ = machine.handle(.idled, now: at(0))
        _ = machine.handle(page(3, lag: .seconds(1)), now: at(0))
        #expect(machine.state == .current)
    }

    @Test(arguments: 0..<5) mutating func itEndsAfterTheCallThatIsUnderWay(step: Int) {
        let inputs: [OutputMachine.Input] = [.start, page(3), delivered, .idled, page(0)]
        for input in inputs.prefix(step) { _ = machine.handle(input, now: at(0)) }
        var outputs = machine.handle(.stop, now: at(0))
        let answers: [Int: OutputMachine.Input] = [
            1: page(3), 2: delivered, 3: .idled, 4: page(0), 5: .idled,
        ]
        if outputs.isEmpty, let answer = answers[step] {
            outputs = machine.handle(answer, now: at(0))
        }
        #expect(outputs.last == .close)
        #expect(machine.state == .stopped)
        #expect(machine.handle(.news, now: at(9)) == [])
        #expect(machine.handle(.deadlineReached, now: at(9)) == [])
        #expect(machine.nextDeadline == nil)
    }

    @Test mutating func theEndComesAlsoInTheMiddleOfAFault() {
        _ = machine.handle(.start, now: at(0))
        _ = machine.handle(page(3), now: at(0))
        _ = machine.handle(.failed(OutputFault(.unavailable, "away")), now: at(0))
        #expect(machine.handle(.stop, now: at(0)) == [.close])
    }

    @Test mutating func answersToNothingChangeNothing() {
        for input in [delivered, .idled, page(3), .failed(OutputFault(.refused, "no"))] {
            #expect(machine.handle(input, now: at(0)) == [])
        }
        #expect(machine.handle(.start, now: at(0)) == [.fetch])
        #expect(machine.handle(.start, now: at(0)) == [])
    }
}
