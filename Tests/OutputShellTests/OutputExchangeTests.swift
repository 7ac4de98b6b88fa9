import NearbyCore
import Store
import Testing

@testable import OutputShell

struct OutputExchangeTests {
    private let exchange = OutputExchange()

    private func post(_ name: String, generation: UInt64 = 1, batch: UInt64 = 1) throws
        -> CursorPost
    {
        let place = Place()
        var progress = try #require(
            try place.open().register([
                OutputRegistration(name: name, wantsHistory: false, hold: .zero)
            ]).progress.first)
        progress.deliveredCount = batch
        return CursorPost(progress: progress, generation: generation, batch: batch)
    }

    @Test func theNewestCursorOfEachOutputIsKept() throws {
        exchange.post(try post("b", batch: 1))
        exchange.post(try post("a", batch: 1))
        exchange.post(try post("b", batch: 2))
        let posts = exchange.take(generation: 1)
        #expect(posts.map(\.progress.name) == ["a", "b"])
        #expect(posts.map(\.batch) == [1, 2])
        #expect(exchange.take(generation: 1).isEmpty)
    }

    @Test func cursorsOfAnotherStoreAreDropped() throws {
        exchange.post(try post("a", generation: 1))
        #expect(exchange.take(generation: 2).isEmpty)
    }

    @Test func whatCouldNotBeKeptComesAgainUnlessThereIsANewerOne() throws {
        let (old, new) = (try post("a", batch: 1), try post("a", batch: 2))
        exchange.giveBack([old])
        #expect(exchange.take(generation: 1).map(\.batch) == [1])
        exchange.post(new)
        exchange.giveBack([old])
        #expect(exchange.take(generation: 1).map(\.batch) == [2])
    }

    /// The cursor of an output that was removed must not move that of one that is called the same.
    @Test func whatIsForgottenMovesNothing() throws {
        exchange.post(try post("a"))
        exchange.post(try post("b"))
        exchange.forget("a")
        #expect(exchange.take(generation: 1).map(\.progress.name) == ["b"])
        exchange.post(try post("a")) { false }
        #expect(exchange.take(generation: 1).isEmpty)
    }
}
