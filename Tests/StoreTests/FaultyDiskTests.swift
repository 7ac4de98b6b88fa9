import CFaultyDisk
import Collector
import FailingFiles
import Glibc
import NearbyCore
import Telemetry
import Testing

@testable import Store

/// Each system call that SQLite makes in a collector's life fails once. What `commit` returned from
/// is there; what it refused and was handed over again is there once.
@Suite struct FaultyDiskTests {
    @Test(arguments: [ENOSPC, EIO])
    func eachCallThatFailsLosesNothingThatWasCommitted(code: Int32) throws {
        var call: Int32 = 0
        var refusals = 0
        while true {
            var calls: Int32 = 0
            try withTemporaryDirectory(in: "/dev/shm") { folder in
                let path = folder + "/readings.sqlite"
                faulty_disk_arm(call, code)
                defer { faulty_disk_disarm() }
                let life = live(path)
                calls = faulty_disk_disarm()
                refusals += life.refusals
                try #require(life.committed == Self.batches, "call \(call)")
                try expectAll(path, "call \(call)")
            }
            if calls <= call { break }
            call += 1
        }
        #expect(call > 60)
        #expect(refusals > 20)
    }

    /// The process dies instead of trying again: a new one opens what is there.
    @Test func whatWasCommittedBeforeAFaultIsFoundByTheNextProcess() throws {
        var call: Int32 = 0
        while true {
            var calls: Int32 = 0
            try withTemporaryDirectory(in: "/dev/shm") { folder in
                let path = folder + "/readings.sqlite"
                faulty_disk_arm(call, EIO)
                defer { faulty_disk_disarm() }
                let committed = live(path, attempts: 1).committed
                calls = faulty_disk_disarm()
                let store = try Store.open(path).store
                let found = Set(try store.allReadings().map(\.sequence))
                for batch in committed { #expect(found.isSuperset(of: Self.sequences(batch))) }
                #expect(try store.database.integrity() == ["ok"])
            }
            if calls <= call { break }
            call += 1
        }
        #expect(call > 60)
    }

    private static let batches = [0, 1, 2, 3, 4]

    private static func sequences(_ batch: Int) -> Range<UInt64> {
        UInt64(batch * 60 + 1)..<UInt64(batch * 60 + 61)
    }

    /// Opens, commits and tidies as a collector does; two processes' worth.
    private func live(_ path: String, attempts: Int = 3) -> (committed: [Int], refusals: Int) {
        var committed: [Int] = []
        var refusals = 0
        var store: Store?
        for batch in Self.batches {
            // The second process, which puts a channel's readings into a block at once.
            if batch == 3 { store = nil }
            for _ in 0..<attempts {
                do {
                    let opened =
                        try store
                        ?? Store.open(path, .inBlocks(from: batch < 3 ? .max : 15)).store
                    store = opened
                    // Without the batch that brought the birth nothing of the next is stored.
                    let left = try opened.commit(try content(batch))
                    refusals += left.count
                    guard left.isEmpty else { continue }
                    committed.append(batch)
                    break
                } catch {
                    refusals += 1
                }
            }
            let clock = ClockReading(rank: .network, unixOffset: Fixture.unixOffset)
            _ = try? store?.tidy(now: Fixture.at(10_000_000), clock: clock)
            // What was committed before this batch, and half of the batch.
            try? store?.pack(limit: 30)
        }
        return (committed, refusals)
    }

    private func content(_ batch: Int) throws -> StoreBatch {
        let sequences = Self.sequences(batch)
        var content = Fixture.batch(
            Fixture.readings(first: sequences.lowerBound, count: UInt64(sequences.count)),
            births: batch == 0 ? [try Fixture.birth()] : [])
        content.clocks = [Fixture.mapping()]
        return content
    }

    private func expectAll(_ path: String, _ what: Comment) throws {
        let store = try Store.open(path).store
        let found = try store.allReadings().map(\.sequence).sorted()
        #expect(found == Array(1...300), what)
        #expect(try store.database.integrity() == ["ok"], what)
    }
}
