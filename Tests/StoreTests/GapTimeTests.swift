import Collector
import NearbyCore
import Telemetry
import Testing

@testable import Store

/// When readings went missing is told by those on either side.
struct GapTimeTests {
    private let second: Int64 = 1_000_000_000

    private func gaps(
        clocks: [ClockMapping], _ ranges: [Range<UInt64>]
    ) throws -> [(from: Int64?, to: Int64?)] {
        try withStorePath { path in
            let store = try Store.open(path).store
            // Readings 4, 5, 6 and 10, each as many seconds after the board's start.
            var batch = Fixture.batch(
                Fixture.readings(first: 4, count: 3) + Fixture.readings(first: 10, count: 1),
                births: [try Fixture.birth()])
            batch.clocks = clocks
            batch.gaps = ranges.map { range in
                let gap = Gap(run: Fixture.key().run, range: range, reason: .power)
                return StoreBatch.PeerGap(peer: Fixture.key().peer, gap: gap)
            }
            try store.commit(batch)
            return try StoreReader(path).gaps(StoreQuery()).map { ($0.from, $0.to) }
        }
    }

    @Test func aGapLiesBetweenItsNeighbours() throws {
        let utc = Fixture.unixOffset.nanoseconds
        let found = try gaps(clocks: [Fixture.mapping()], [1..<4, 7..<10, 11..<Gap.openEnd])
        #expect(found.map(\.from) == [nil, utc + 6 * second, utc + 10 * second])
        #expect(found.map(\.to) == [utc + 4 * second, utc + 10 * second, nil])
    }

    @Test func withoutAClockNothingIsSaid() throws {
        let found = try gaps(clocks: [], [7..<10])
        #expect(found.map(\.from) == [nil])
        #expect(found.map(\.to) == [nil])
    }

    @Test func ofOnePeerOnlyItsSeriesAreRead() throws {
        try withStorePath { path in
            let store = try Store.open(path).store
            for number in [1, 2] as [UInt64] {
                let key = Fixture.key(number, peer: number)
                var batch = StoreBatch()
                batch.births = [try Fixture.birth(key)]
                batch.parts = [Fixture.part(Fixture.readings(count: 3), key: key)]
                try store.commit(batch)
            }
            let reader = try StoreReader(path)
            var query = StoreQuery()
            #expect(try reader.series(query).count == 6)
            query.peers = [.id(Fixture.peer(2))]
            #expect(try reader.series(query).map(\.channel) == ["air", "rain", "soil"])
            #expect(try reader.series(query).allSatisfy { $0.peer == Fixture.peer(2) })
            query.peers = [.id(Fixture.peer(3))]
            #expect(try reader.series(query).isEmpty)
        }
    }
}
