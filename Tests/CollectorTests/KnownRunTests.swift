import NearbyCore
import Telemetry
import Testing

@testable import Collector

/// What a durable collector knows of runs that it was told of late, or had to forget.
@Suite struct KnownRunTests {
    private let peer = Fixture.peer(7)

    /// The store is slow to open, and what was sent again meanwhile is committed first.
    @Test func receiptsTellOfWhatTheStoreHadBeforeItWasOpen() throws {
        var machine = CollectorMachine(isDurable: true)
        let birth = try birth(0x100)
        receive(birth, first: 4, count: 2, at: 0, &machine)
        let batch = try #require(commit(&machine, at: 1_000))
        var settled = NumberRanges()
        settled.insert(0..<10)
        let stored = StoredRun(
            key: RunKey(peer: peer, run: birth.run), birth: birth, settled: settled)
        _ = machine.handle(.restored([stored], []), now: Fixture.at(1_500))
        #expect(batch.parts.map { $0.readings.map(\.sequence) } == [[4, 5]])
        #expect(receipts(&machine, at: 2_000).map(\.through) == [9])
    }

    /// The agent was faster than the store: what it holds no more lies there.
    @Test func whatTheStoreHadBeforeItWasOpenIsNotCalledSettledElsewhere() throws {
        var machine = CollectorMachine(isDurable: true)
        let birth = try birth(0x100)
        let key = RunKey(peer: peer, run: birth.run)
        var outputs = receive(birth, first: 67_001, count: 2, at: 0, &machine)
        var settled = NumberRanges()
        settled.insert(0..<67_001)
        let stored = StoredRun(key: key, birth: birth, settled: settled)
        outputs += machine.handle(.restored([stored], []), now: Fixture.at(500))
        let batch = try #require(commit(&machine, at: 1_000))
        outputs += receive(birth, first: 67_003, count: 2, at: 1_100, &machine)
        #expect(outputs.diagnostics.isEmpty)
        #expect(batch.gaps.isEmpty)
        // What neither has is told by the first report afterwards.
        let later = receive(birth, first: 67_010, count: 2, at: 1_200, &machine)
        #expect(later.diagnostics == [.settledElsewhere(key, 67_005..<67_010)])
    }

    @Test func whatAStoreThatOpensLateDoesNotHaveIsToldByTheReportAfterwards() throws {
        var machine = CollectorMachine(isDurable: true)
        let birth = try birth(0x100)
        #expect(receive(birth, first: 5, count: 2, at: 0, &machine).diagnostics.isEmpty)
        _ = machine.handle(.restored([], []), now: Fixture.at(500))
        let outputs = receive(birth, first: 7, count: 2, at: 600, &machine)
        let key = RunKey(peer: peer, run: birth.run)
        #expect(outputs.diagnostics == [.settledElsewhere(key, 1..<5)])
    }

    /// An agent that started often sends many runs, and again what it got no receipt for.
    @Test func aRunThatWasForgottenComesBackWithWhatItHad() throws {
        var machine = CollectorMachine(isDurable: true)
        let births = try (1...UInt64(Limits.collectorRunsMax) + 2).map { try birth($0 << 32) }
        for birth in births { receive(birth, first: 1, count: 3, at: 0, &machine) }
        let batch = try #require(commit(&machine, at: 1_000))
        // The first two are forgotten; what they bring again is neither new before the commit nor
        // after it.
        for milliseconds in [1_100, 2_100] as [Int64] {
            let outputs = receive(births[0], first: 1, count: 3, at: milliseconds, &machine)
            #expect(outputs.contains(.drop(.reportDuplicate, count: 3)))
            if milliseconds < 2_000 {
                let told = receipts(&machine, at: 2_000)
                #expect(told.count == births.count)
                #expect(told.allSatisfy { $0.through == 3 && $0.missing.isEmpty })
            }
        }
        #expect(batch.parts.allSatisfy { $0.settled.missing(in: 1..<4).isEmpty })
    }

    @Test func theRunThatIsInUseIsNotForgotten() throws {
        var machine = CollectorMachine(isDurable: true)
        let current = try birth(1 << 32)
        receive(current, first: 1, count: 1, at: 0, &machine)
        for number in 2...40 as ClosedRange<UInt64> {
            receive(try birth(number << 32), first: 1, count: 1, at: 0, &machine)
            let outputs = machine.handle(
                .received(Fixture.report(current, first: number), from: peer, hops: 1), now: .zero)
            let isAccepted = outputs.contains { if case .accepted = $0 { true } else { false } }
            #expect(isAccepted)
        }
    }

    // MARK: Parts

    private func birth(_ run: UInt64) throws -> Birth {
        // Reports name a run by its low half.
        try Fixture.birth(run: run | run >> 32, channels: [("t", .celsius, -2)])
    }

    @discardableResult
    private func receive(
        _ birth: Birth, first: UInt64, count: UInt64, at milliseconds: Int64,
        _ machine: inout CollectorMachine
    ) -> [CollectorMachine.Output] {
        let report = Fixture.report(birth, first: first, count: count)
        return [TelemetryMessage.birth(birth).bytes, report].flatMap {
            machine.handle(.received($0, from: peer, hops: 1), now: Fixture.at(milliseconds))
        }
    }

    private func commit(_ machine: inout CollectorMachine, at milliseconds: Int64) -> StoreBatch? {
        for case .commit(let batch) in machine.handle(
            .deadlineReached, now: Fixture.at(milliseconds))
        {
            return batch
        }
        return nil
    }

    /// What is told when the batch is durable.
    private func receipts(_ machine: inout CollectorMachine, at milliseconds: Int64) -> [Receipt] {
        machine.handle(.committed, now: Fixture.at(milliseconds)).compactMap { output in
            guard case .sendUnreliable(let bytes, _) = output,
                case .receipt(let receipt)? = try? TelemetryMessage(parsing: bytes)
            else { return nil }
            return receipt
        }
    }
}

extension [CollectorMachine.Output] {
    fileprivate var diagnostics: [CollectorDiagnostic] {
        compactMap { if case .diagnostic(let diagnostic) = $0 { diagnostic } else { nil } }
    }
}
