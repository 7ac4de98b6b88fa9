import Fleet
import Glibc
import NearbyCore
import Store
import Testing

@testable import OutputShell

/// Real threads, with a real store and a file.
struct OutputRosterTests {
    private let place = Place()

    private func made() throws -> OutputRoster {
        try OutputRoster(board: FleetBoard(), collector: place.peer, network: "test", seed: 1)
    }

    /// What the store's thread does of it.
    private func register(_ roster: OutputRoster, _ store: Store) throws {
        let registered = try store.register(roster.registrations)
        try roster.follow(
            OutputSource(path: place.store, generation: 1, progress: registered.progress))
    }

    private func keep(_ roster: OutputRoster, _ store: Store) throws {
        let posts = roster.exchange.take(generation: 1)
        try store.save(posts.map(\.progress))
        roster.exchange.kept(posts)
    }

    private func end(_ roster: OutputRoster) {
        roster.stop()
        for _ in 0..<3_000 where !roster.isFinished { usleep(10_000) }
        #expect(roster.unfinished.isEmpty)
    }

    @Test func anOutputGetsHistoryAndNews() throws {
        let (store, roster) = (try place.open(), try made())
        try place.commit(1...20, to: store)
        roster.use(try place.settings(), words: .none)
        #expect(roster.statuses(now: .zero, utc: 0).map(\.phase) == [.starting])
        try register(roster, store)
        place.waitForLines(20)
        try place.commit(21...30, to: store)
        roster.exchange.committed()
        place.waitForLines(30)
        end(roster)
        #expect(place.lineCount == 30)
        #expect(roster.statuses(now: .zero, utc: 0).map(\.deliveredCount) == [30])
        try keep(roster, store)
        let progress = try store.register(roster.registrations).progress
        #expect(progress.map(\.deliveredCount) == [30])
    }

    /// It begins anew, with what came while it was away, though its predecessor knows a place
    /// behind that.
    @Test func anOutputThatWasRemovedAndComesBackMissesNothing() throws {
        let (store, roster) = (try place.open(), try made())
        try place.commit(1...20, to: store)
        roster.use(try place.settings(), words: .none)
        try register(roster, store)
        place.waitForLines(20)
        // The last cursor may still wait to be kept when the output goes.
        for _ in 0..<3_000 where roster.statuses(now: .zero, utc: 0).first?.deliveredCount != 20 {
            usleep(10_000)
        }
        roster.use([], words: .none)
        #expect(try store.register([]).departed.map(\.name) == ["lines"])
        try place.commit(21...40, to: store)
        roster.use(try place.settings(), words: .none)
        try register(roster, store)
        try keep(roster, store)
        place.waitForLines(40)
        end(roster)
        #expect(place.lineCount == 40)
    }

    /// The address of an output without a name is corrected while it runs.
    @Test func whoTakesTheirPlaceDeliversNothingAgain() throws {
        let (store, roster) = (try place.open(), try made())
        try place.commit(1...20, to: store)
        roster.use(try place.settings(name: ""), words: .none)
        try register(roster, store)
        place.waitForLines(20)
        for _ in 0..<3_000 where roster.statuses(now: .zero, utc: 0).first?.deliveredCount != 20 {
            usleep(10_000)
        }
        // The same file by another name.
        let settings = try place.settings(name: "", file: place.folder + "/./lines.jsonl")
        roster.use(settings, words: .none)
        try register(roster, store)
        try place.commit(21...40, to: store)
        roster.exchange.committed()
        place.waitForLines(40)
        end(roster)
        #expect(place.lineCount == 40)
    }
}
