import Collector
import NearbyCore
import Telemetry
import Testing

@testable import Store

/// What one agent sends never keeps others' readings out of the store.
@Suite struct PartTests {
    private let good = Fixture.key(0x100)
    private let bad = Fixture.key(0x200, peer: 2)

    /// A trigger plays a row that the file refuses for what is in it.
    private func store(_ path: String, refusing table: String, when condition: String) throws
        -> Store
    {
        let store = try Store.open(path).store
        try store.database.execute(
            """
            CREATE TEMP TRIGGER refusing BEFORE INSERT ON main.\(table) WHEN \(condition)
            BEGIN SELECT RAISE(ABORT, 'not this one'); END
            """)
        return store
    }

    private func batch() throws -> StoreBatch {
        var batch = Fixture.batch(
            Fixture.readings(count: 3),
            births: [try Fixture.birth(good), try Fixture.birth(bad, name: "south")])
        batch.parts.append(Fixture.part(Fixture.readings(first: 101, count: 3), key: bad))
        return batch
    }

    @Test func aReadingThatCannotBeWrittenLeavesOutThatRunsPartAlone() throws {
        try withStorePath { path in
            let store = try store(path, refusing: "readings", when: "NEW.sequence = 102")
            let refused = try store.commit(try batch())
            #expect(refused.map(\.key) == [bad])
            guard case .unwritable(let reason)? = refused.first?.reason else {
                Issue.record("\(refused)")
                return
            }
            #expect(reason.contains("not this one"))
            // Not even the first of its three, nor a word that they are settled.
            #expect(try store.allReadings() == Fixture.readings(count: 3))
            let runs = try Store.open(path).runs
            #expect(runs.map(\.key) == [good, bad])
            #expect(runs.map(\.settled.count) == [3, 0])
        }
    }

    @Test func aBirthThatCannotBeWrittenTakesNothingElseAlong() throws {
        try withStorePath { path in
            let store = try store(path, refusing: "peers", when: "NEW.name = 'south'")
            let refused = try store.commit(try batch())
            #expect(refused.map(\.key) == [bad])
            #expect(try Store.open(path).runs.map(\.key) == [good])
            #expect(try store.allReadings() == Fixture.readings(count: 3))
        }
    }

    @Test func ofWhatWasSettledElsewhereTheStoreTellsWhatItDoesNotHave() throws {
        try withStorePath { path in
            let store = try Store.open(path).store
            var batch = Fixture.batch(
                Fixture.readings(first: 4, count: 3), births: [try Fixture.birth(good)])
            try store.commit(batch)
            batch = StoreBatch()
            let gap = Gap(run: good.run, range: 1..<10, reason: .settledElsewhere)
            batch.gaps = [StoreBatch.PeerGap(peer: good.peer, gap: gap)]
            try store.commit(batch)
            try store.commit(batch)
            let gaps = try StoreReader(path).gaps(StoreQuery()).map(\.gap)
            #expect(gaps.map(\.range) == [1..<4, 7..<10])
            #expect(gaps.allSatisfy { $0.reason == .settledElsewhere })
        }
    }

    @Test func theLostEndOfARunIsShownWithoutACountAndSettlesNothing() throws {
        try withStorePath { path in
            let store = try Store.open(path).store
            var batch = Fixture.batch(
                Fixture.readings(count: 3), births: [try Fixture.birth(good)])
            let gap = Gap(run: good.run, range: 4..<Gap.openEnd, reason: .power)
            batch.gaps = [StoreBatch.PeerGap(peer: good.peer, gap: gap)]
            try store.commit(batch)
            try store.commit(batch)
            let opened = try Store.open(path)
            #expect(opened.runs.map(\.settled.ranges) == [[1..<4]])
            let gaps = try StoreReader(path).gaps(StoreQuery())
            #expect(gaps.map(\.gap) == [gap])
            for (format, shown) in [
                (.table, "unknown power"), (.csv, ",4,,power"), (.json, #""count":null"#),
            ] as [(StorePrinter.Format, String)] {
                var printer = StorePrinter(format)
                let text = gaps.map { printer.line($0) }.joined()
                #expect(text.contains(shown), "\(text)")
            }
        }
    }
}
