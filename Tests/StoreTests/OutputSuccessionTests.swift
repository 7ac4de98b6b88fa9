import Collector
import NearbyCore
import Testing

@testable import Store

/// Who goes on from the place of an output that is no longer configured.
@Suite struct OutputSuccessionTests {
    private static func output(
        _ target: String, kind: String = "mqtt", name: String? = nil
    ) -> OutputRegistration {
        let given = "\(kind) \(target)"
        return OutputRegistration(
            name: name ?? given, kind: kind, defaultName: given, wantsHistory: false,
            hold: .seconds(3_600))
    }

    private static func successors(
        _ former: [String], _ outputs: OutputRegistration...
    ) -> [String: String] {
        OutputSuccession.successors(of: former, in: outputs)
    }

    @Test func theOnlyOneOfItsKindFollows() {
        #expect(
            Self.successors(["mqtt a", "nats a"], Self.output("b"), Self.output("a", kind: "nats"))
                == ["mqtt a": "mqtt b"])
        #expect(
            Self.successors(["mqtt a", "nats a"], Self.output("b"), Self.output("b", kind: "nats"))
                == ["mqtt a": "mqtt b", "nats a": "nats b"])
        #expect(
            Self.successors(["mqtt a", "mqtt b"], Self.output("b"), Self.output("c"))
                == ["mqtt a": "mqtt c"])
    }

    @Test func noneFollowsWhereTwoMight() {
        #expect(Self.successors(["mqtt a", "mqtt b"], Self.output("c")) == [:])
        #expect(Self.successors(["mqtt a"], Self.output("b"), Self.output("c")) == [:])
        #expect(Self.successors(["mqtt a"], Self.output("a"), Self.output("c")) == [:])
        #expect(Self.successors(["mqtt a"], Self.output("a", kind: "nats")) == [:])
        #expect(Self.successors(["home"], Self.output("a")) == [:])
    }

    @Test func whoIsGivenANameKeepsItsPlace() {
        #expect(
            Self.successors(["mqtt a", "mqtt b"], Self.output("b", name: "home"), Self.output("c"))
                == ["mqtt a": "mqtt c", "mqtt b": "home"])
        #expect(Self.successors(["mqtt a"], Self.output("b", name: "home")) == [:])
        #expect(Self.successors(["home"], Self.output("a", name: "house")) == [:])
    }

    @Test func whatWaitsComesToTheSuccessor() throws {
        try withStorePath { path in
            var settings = Store.Settings()
            settings.outputs = [Self.output("a")]
            let opened = try Store.open(path, settings)
            try opened.store.commit(try Self.batch(first: 1, count: 20))
            let former = try Follower(path, #require(opened.outputs.progress.first))
            former.take(try former.feed.next(after: former.progress.cursor, limit: 7, utc: 0))
            try opened.store.save([former.progress])
            // At a start.
            settings.outputs = [Self.output("b")]
            let again = try Store.open(path, settings)
            #expect(
                again.outputs.departed == [
                    OutputSuccession.Departure(
                        name: "mqtt a", successor: "mqtt b", waitingCount: 13, isAmbiguous: false)
                ])
            let follower = try Follower(path, #require(again.outputs.progress.first))
            #expect(follower.progress.name == "mqtt b")
            try follower.follow()
            #expect(follower.times.keys.sorted() == Array(8...20))
            // With a reload.
            let registered = try again.store.register([Self.output("c"), Self.output("d")])
            #expect(
                registered.departed.map(\.text) == [
                    "output mqtt b is no longer configured: its place in the store is deleted, "
                        + "and up to 13 readings that waited are dropped; it is not clear "
                        + "which output replaces it: give each a `name`, and it keeps its place "
                        + "when its address changes"
                ])
        }
    }

    /// What it had of the history is not sent again.
    @Test func theHistoryGoesOnWhereItWas() throws {
        try withStorePath { path in
            let store = try Store.open(path, Store.Settings()).store
            try store.commit(try Self.batch(first: 1, count: 20))
            var output = Self.output("a")
            output.wantsHistory = true
            let former = try Follower(
                path, #require(try store.register([output]).progress.first))
            former.take(try former.feed.next(after: former.progress.cursor, limit: 7, utc: 0))
            try store.save([former.progress])
            (output.name, output.defaultName) = ("mqtt b", "mqtt b")
            let registered = try store.register([output])
            #expect(registered.departed.map(\.successor) == ["mqtt b"])
            let follower = try Follower(path, #require(registered.progress.first))
            try follower.follow()
            #expect(follower.times.keys.sorted() == Array(8...20))
        }
    }

    private static func batch(first: UInt64, count: UInt64) throws -> StoreBatch {
        var batch = StoreBatch()
        batch.births = [try Fixture.birth()]
        batch.clocks = [Fixture.mapping()]
        batch.parts = [Fixture.part(Fixture.readings(first: first, count: count))]
        return batch
    }
}
