import Collector
import NearbyCore
import Telemetry
import Testing

@testable import Store

struct StoreListingTests {
    /// CSV out of a store with six readings of two runs; printing ends after so many texts.
    private func lines(
        _ kind: StoreListing.Kind, limit: Int? = nil, textsMax: Int = .max
    ) throws -> [String] {
        try withStorePath { path in
            let store = try Store.open(path).store
            for run: UInt64 in [0x100, 0x200] {
                let key = Fixture.key(run)
                var batch = StoreBatch()
                batch.births = [try Fixture.birth(key)]
                batch.parts = [Fixture.part(Fixture.readings(count: 3), key: key)]
                batch.clocks = [Fixture.mapping(rank: .network)]
                try store.commit(batch)
            }
            var texts: [String] = []
            try StoreListing(kind, StoreQuery(), limit: limit).print(
                try StoreReader(path), with: StorePrinter(.csv)
            ) {
                texts.append($0)
                return texts.count < textsMax
            }
            return texts.joined().split(whereSeparator: \.isNewline).map(String.init)
        }
    }

    @Test(arguments: [
        (StoreListing.Kind.readings, 6), (.runs, 2), (.gaps, 0), (.windows(.seconds(10)), 6),
    ])
    func eachKindHasAHeaderAndItsRows(_ kind: StoreListing.Kind, _ count: Int) throws {
        let lines = try lines(kind)
        #expect(lines.count == 1 + count)
    }

    @Test func noTwoKindsHaveTheSameHeader() throws {
        let kinds: [StoreListing.Kind] = [.readings, .runs, .gaps, .windows(.seconds(10))]
        let headers = try kinds.map { try lines($0).first }
        #expect(Set(headers).count == kinds.count)
    }

    @Test func withALimitTheNewestComeFirst() throws {
        let all = try lines(.runs)
        let one = try lines(.runs, limit: 1)
        let both = try lines(.runs, limit: 9)
        #expect(one == [all[0], all[2]] && both == [all[0], all[2], all[1]])
        let newest = try lines(.readings, limit: 2)
        #expect(newest.count == 1 + 2)
        #expect(newest.dropFirst().allSatisfy { $0.hasPrefix("2026-11-21T05:20:03") })
        let windows = try lines(.windows(.seconds(1)), limit: 1)
        #expect(windows.count == 1 + 1)
    }

    @Test(arguments: [StoreListing.Kind.readings, .runs, .windows(.seconds(10))])
    func whoReadsNoMoreGetsNoMore(_ kind: StoreListing.Kind) throws {
        let all = try lines(kind, textsMax: 2)
        let newest = try lines(kind, limit: 2, textsMax: 2)
        #expect(all.count == 2 && newest.count == 2)
    }
}
