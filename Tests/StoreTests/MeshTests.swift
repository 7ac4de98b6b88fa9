import Fleet
import NearbyCore
import Testing

@testable import Store

@Suite struct MeshTests {
    private static let second: Int64 = 1_000_000_000
    private let own = PeerID(high: 1, low: 0)
    private let a = PeerID(high: 2, low: 0)
    private let b = PeerID(high: 3, low: 0)

    private func link(
        _ from: PeerID, _ to: PeerID, _ kind: String = "wifi", cost: UInt32 = 100,
        loss: Double? = 0
    ) -> FleetLink {
        FleetLink(from: from, to: to, link: kind, cost: cost, lossPercent: loss)
    }

    private func rows(_ store: Store) throws -> Int64 {
        try store.database.integer("SELECT count(*) FROM mesh") ?? -1
    }

    @Test func theMeshOfATimeIsThatOfTheLastChange() throws {
        try withStorePath { path in
            let store = try Store.open(path, Store.Settings()).store
            try store.record(mesh: [link(own, a)], utc: 100 * Self.second)
            try store.record(mesh: [link(own, a), link(a, b)], utc: 200 * Self.second)
            try store.record(mesh: [link(own, a, "ethernet")], utc: 300 * Self.second)
            let reader = try StoreReader(path)
            #expect(try reader.mesh(at: 99 * Self.second) == [])
            #expect(try reader.mesh(at: 150 * Self.second) == [link(own, a)])
            #expect(try reader.mesh(at: 200 * Self.second) == [link(own, a), link(a, b)])
            #expect(try reader.mesh(at: .max) == [link(own, a, "ethernet")])
            #expect(try reader.meshBegin() == 100 * Self.second)
        }
    }

    @Test func onlyChangesAreWrittenAlsoAfterAStart() throws {
        try withStorePath { path in
            for time in 0..<3 as Range<Int64> {
                let store = try Store.open(path, Store.Settings()).store
                for step in 0..<5 as Range<Int64> {
                    let utc = (time * 1_000 + step * 100) * Self.second
                    try store.record(mesh: [link(own, a), link(a, b)], utc: utc)
                }
                #expect(try rows(store) == 2)
            }
        }
    }

    @Test func wavesOfCostAndLossAreNoChange() throws {
        try withStorePath { path in
            let store = try Store.open(path, Store.Settings()).store
            try store.record(mesh: [link(own, a, cost: 100, loss: 3)], utc: 0)
            try store.record(mesh: [link(own, a, cost: 120, loss: 9)], utc: 100 * Self.second)
            #expect(try rows(store) == 1)
            // Soon after, a large one waits.
            try store.record(mesh: [link(own, a, cost: 300, loss: 3)], utc: 30 * Self.second)
            #expect(try rows(store) == 1)
            try store.record(mesh: [link(own, a, cost: 300, loss: 3)], utc: 130 * Self.second)
            #expect(try rows(store) == 2)
            try store.record(mesh: [link(own, a, cost: 300, loss: 30)], utc: 230 * Self.second)
            try store.record(mesh: [link(own, a, cost: 300, loss: nil)], utc: 330 * Self.second)
            #expect(try rows(store) == 4)
            let last = try StoreReader(path).mesh(at: .max)
            #expect(last == [link(own, a, cost: 300, loss: nil)])
        }
    }

    @Test func oldChangesGoButNotWhatStillHolds() throws {
        try withStorePath { path in
            var settings = Store.Settings()
            settings.keep = .seconds(86_400)
            let store = try Store.open(path, settings).store
            let day = 86_400 * Self.second
            try store.record(mesh: [link(own, a), link(own, b)], utc: 0)
            try store.record(mesh: [link(own, a, "ethernet"), link(own, b)], utc: day / 2)
            try store.record(mesh: [link(own, a, "ethernet")], utc: day / 2 + Self.second)
            try store.record(mesh: [link(own, a, "ethernet")], utc: 3 * day)
            #expect(try rows(store) == 1)
            #expect(try StoreReader(path).mesh(at: .max) == [link(own, a, "ethernet")])
        }
    }
}
