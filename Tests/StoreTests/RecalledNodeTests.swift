import Collector
import Fleet
import NearbyCore
import Telemetry
import Testing

@testable import Store

/// What a store says of nodes that nobody has heard since.
struct RecalledNodeTests {
    private let utc = Fixture.unixOffset.nanoseconds
    private let second: Int64 = 1_000_000_000

    private func nodes(
        since: Int64, limit: Int = 10, _ batches: StoreBatch...
    ) throws -> [RecalledNode] {
        try withStorePath { path in
            let store = try Store.open(path).store
            for batch in batches { try store.commit(batch) }
            return try StoredNodes(try StoreReader(path)).recalled(since: since, limit: limit)
        }
    }

    private func batch(
        peer: UInt64, run: UInt64, _ readings: [Reading], hasClock: Bool = true
    ) throws -> StoreBatch {
        let key = Fixture.key(run, peer: peer)
        let boot = BootID(high: run, low: 1)
        var batch = StoreBatch()
        batch.births = [try Fixture.birth(key, name: "n\(peer)", boot: boot)]
        if !readings.isEmpty { batch.parts = [Fixture.part(readings, key: key)] }
        if hasClock { batch.clocks = [Fixture.mapping(boot: boot)] }
        return batch
    }

    @Test func theNewestReadingOfEachChannelIsTold() throws {
        let found = try nodes(
            since: utc, batch(peer: 1, run: 1, Fixture.readings(count: 5)))
        let node = try #require(found.first)
        #expect(found.count == 1)
        #expect(node.peer == Fixture.peer(1))
        #expect(node.birth.node.name == "n1")
        // Channels take turns: 2, 3, 1, 2, 3.
        #expect(node.newest.map(\.channel) == [1, 2, 3])
        #expect(node.newest.map(\.sequence) == [3, 4, 5])
        #expect(node.newest.map(\.utc) == [3, 4, 5].map { utc + $0 * second })
        #expect(
            node.newest.first?.outcome
                == .value(DecimalValue(coefficient: 2_003, exponent: -2)))
        #expect(node.utc == utc + 5 * second)
    }

    @Test func namesAreThoseThatAreStored() throws {
        try withStorePath { path in
            let store = try Store.open(path).store
            try store.commit(batch(peer: 1, run: 1, Fixture.readings(count: 1)))
            try store.commit(batch(peer: 2, run: 2, []))
            let nodes = StoredNodes(try StoreReader(path))
            let names = try nodes.names(of: [Fixture.peer(1), Fixture.peer(9)])
            #expect(names == [Fixture.peer(1): "n1"])
        }
    }

    @Test func ofEachNodeTheNewestRunWithReadingsCounts() throws {
        let found = try nodes(
            since: utc, batch(peer: 1, run: 1, Fixture.readings(count: 3)),
            batch(peer: 2, run: 2, Fixture.readings(count: 6)), batch(peer: 1, run: 3, []))
        #expect(found.map(\.peer) == [Fixture.peer(2), Fixture.peer(1)])
        #expect(found.map(\.birth.run.value) == [2, 1])
    }

    @Test func whatIsTooOldOrHasNoTimeOrIsTooMuchIsLeftOut() throws {
        let (old, new) = (Fixture.readings(count: 3), Fixture.readings(count: 9))
        let batches = try (
            batch(peer: 1, run: 1, old), batch(peer: 2, run: 2, new),
            batch(peer: 3, run: 3, new, hasClock: false), batch(peer: 4, run: 4, new)
        )
        let found = try nodes(
            since: utc + 4 * second, batches.0, batches.1, batches.2, batches.3)
        #expect(found.map(\.peer) == [Fixture.peer(4), Fixture.peer(2)])
        let one = try nodes(
            since: utc, limit: 1, batches.0, batches.1, batches.2, batches.3)
        #expect(one.map(\.peer) == [Fixture.peer(4)])
    }
}
