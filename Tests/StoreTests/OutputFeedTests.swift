import Collector
import Fleet
import NearbyCore
import Outputs
import Telemetry
import Testing

@testable import Store

/// What an output gets out of a store, page by page, as its thread takes it.
final class Follower {
    let feed: OutputFeed
    var progress: OutputProgress
    /// By number, in every time at which it came.
    var times: [UInt64: [Int64]] = [:]
    var batches: [OutputBatch] = []
    var redatings: [OutputRedating] = []
    /// What a database holds whose key includes the time.
    var held: [UInt64: Int64] = [:]

    init(_ path: String, _ progress: OutputProgress) throws {
        feed = try OutputFeed(path, output: progress.name, words: .none)
        self.progress = progress
    }

    /// Takes all that waits.
    func follow(limit: Int = 7, utc: Int64 = 0) throws {
        for _ in 0..<10_000 {
            let page = try feed.next(after: progress.cursor, limit: limit, utc: utc)
            take(page)
            if page.batch.isEmpty, !page.isMore { return }
        }
        Issue.record("it does not come to an end")
    }

    func take(_ page: OutputFeed.Page) {
        #expect(page.batch.readings.allSatisfy { $0.series < page.batch.series.count })
        for redating in page.batch.redatings {
            held = held.filter { !redating.formerUTC.contains($0.value) }
        }
        for reading in page.batch.readings {
            times[reading.sequence, default: []].append(reading.utc)
            held[reading.sequence] = reading.utc
        }
        redatings += page.batch.redatings
        if !page.batch.isEmpty { batches.append(page.batch) }
        progress.cursor = page.cursor
        progress.lose(page.lostCount)
    }
}

@Suite struct OutputFeedTests {
    static let database = OutputRegistration(
        name: "database", wantsHistory: true, hold: .seconds(3_600))
    static let broker = OutputRegistration(
        name: "broker", wantsHistory: false, hold: .seconds(3_600))

    private func open(
        _ path: String, _ outputs: [OutputRegistration] = [broker], keep: Duration? = nil,
        settings: Store.Settings = Store.Settings()
    ) throws -> Store.Opened {
        var settings = settings
        settings.outputs = outputs
        settings.keep = keep
        return try Store.open(path, settings)
    }

    private func batch(
        _ readings: [Reading], clocks: [ClockMapping] = [Fixture.mapping()],
        births: [StoreBatch.PeerBirth]? = nil
    ) throws -> StoreBatch {
        var batch = StoreBatch()
        batch.births = try births ?? [Fixture.birth()]
        batch.clocks = clocks
        if !readings.isEmpty { batch.parts = [Fixture.part(readings)] }
        return batch
    }

    private func utc(_ sequence: UInt64, _ offset: Duration = Fixture.unixOffset) -> Int64 {
        offset.nanoseconds + Int64(sequence) * 1_000_000_000
    }

    @Test func eachReadingComesOnceWithAllThatIsKnownOfIt() throws {
        try withStorePath { path in
            let opened = try open(path)
            let follower = try Follower(path, #require(opened.outputs.progress.first))
            try opened.store.commit(batch(Fixture.readings(count: 20)))
            try follower.follow()
            try opened.store.commit(batch(Fixture.readings(first: 31, count: 20)))
            try opened.store.commit(batch(Fixture.readings(first: 15, count: 20)))
            try follower.follow()
            #expect(follower.times.count == 50)
            for (sequence, times) in follower.times { #expect(times == [utc(sequence)]) }
            let first = try #require(follower.batches.first)
            #expect(first.readings.count == 7)
            let reading = first.readings[0]
            let series = first.series[reading.series]
            let channel = Fixture.readings(count: 1)[0].channel
            #expect(series.number == channel)
            #expect(series.channel == ["air", "soil", "rain"][Int(channel) - 1])
            #expect(series.node.name == "north")
            #expect(series.node.peer == Fixture.key().peer)
            #expect(reading.outcome == Fixture.readings(count: 1)[0].outcome)
            #expect(follower.redatings.isEmpty)
        }
    }

    @Test func aCursorOutlivesTheStore() throws {
        try withStorePath { path in
            var progress: OutputProgress
            do {
                let opened = try open(path)
                let follower = try Follower(path, #require(opened.outputs.progress.first))
                try opened.store.commit(batch(Fixture.readings(count: 20)))
                follower.take(
                    try follower.feed.next(after: follower.progress.cursor, limit: 7, utc: 0))
                progress = follower.progress
                progress.deliveredCount = 7
                try opened.store.save([progress])
            }
            let opened = try open(path)
            #expect(opened.outputs.progress == [progress])
            let follower = try Follower(path, progress)
            try follower.follow()
            #expect(follower.times.keys.sorted() == Array(8...20))
        }
    }

    @Test func withHistoryAnOutputBeginsWithWhatIsThereAndWithoutFromNow() throws {
        try withStorePath { path in
            let opened = try open(path, [])
            try opened.store.commit(batch(Fixture.readings(count: 20)))
            let registered = try opened.store.register([Self.database, Self.broker])
            try opened.store.commit(batch(Fixture.readings(first: 21, count: 5)))
            let (broker, database) = (registered.progress[0], registered.progress[1])
            let late = try Follower(path, broker)
            try late.follow()
            #expect(late.times.keys.sorted() == Array(21...25))
            let whole = try Follower(path, database)
            try whole.follow()
            #expect(whole.times.count == 25)
            #expect(whole.times.values.allSatisfy { $0.count == 1 })
            // News come first, and history is told as such.
            #expect(whole.batches.first?.isHistorical == false)
            #expect(whole.batches.first?.readings.first?.sequence == 21)
            #expect(whole.batches.dropFirst().allSatisfy { $0.isHistorical })
            #expect(whole.batches.map(\.isFromBefore) == [false, true, true, true])
            try opened.store.save([whole.progress, late.progress])
            #expect(
                try opened.store.database.integer("SELECT count(*) FROM output_history") == 0)
        }
    }

    @Test func readingsWithoutAClockComeWhenTheyAreDated() throws {
        try withStorePath { path in
            let opened = try open(path)
            let follower = try Follower(path, #require(opened.outputs.progress.first))
            try opened.store.commit(batch(Fixture.readings(count: 9), clocks: []))
            try follower.follow()
            #expect(follower.times.isEmpty)
            #expect(follower.progress.lostCount == 0)
            let slow = try Follower(path, #require(opened.outputs.progress.first))
            try opened.store.commit(batch(Fixture.readings(first: 10, count: 5)))
            for one in [follower, slow] {
                try one.follow()
                #expect(one.times.count == 14)
                for (sequence, times) in one.times { #expect(times == [utc(sequence)]) }
                #expect(one.redatings.isEmpty)
            }
        }
    }

    @Test func whoeverDeletesTheFormerTimesEndsWithTheRightOnes() throws {
        var generator = SeededGenerator(seed: 3)
        for round in 0..<20 {
            try withStorePath { path in
                let isBlocked = round % 2 == 1
                let opened = try open(path, settings: isBlocked ? .inBlocks(from: 2) : .inRows)
                let first = try #require(opened.outputs.progress.first)
                let followers = try (0..<3).map { _ in try Follower(path, first) }
                var next: UInt64 = 1
                for _ in 0..<12 {
                    let count = UInt64.random(in: 0...9, using: &generator)
                    var mappings: [ClockMapping] = []
                    if Int.random(in: 0..<3, using: &generator) == 0 {
                        let since = Int64.random(in: 0...Int64(next), using: &generator)
                        let shift = Int64.random(in: -40...40, using: &generator)
                        mappings = [
                            Fixture.mapping(
                                offset: Fixture.unixOffset + .milliseconds(shift * 333),
                                since: Fixture.at(since * 1_000))
                        ]
                    }
                    try opened.store.commit(
                        batch(Fixture.readings(first: next, count: count), clocks: mappings))
                    next += count
                    // Each at its own pace: in the middle of an entry, seldom, never.
                    for follower in followers.dropLast() where Bool.random(using: &generator) {
                        let limit = Int.random(in: 1...6, using: &generator)
                        follower.take(
                            try follower.feed.next(
                                after: follower.progress.cursor, limit: limit, utc: 0))
                    }
                }
                let layout = try opened.store.clocks.layout(of: Fixture.boot)
                for follower in followers {
                    try follower.follow()
                    var right: [UInt64: Int64] = [:]
                    if let layout {
                        for sequence in 1..<next {
                            right[sequence] = layout.utc(Int64(sequence) * 1_000)
                        }
                    }
                    #expect(follower.held == right)
                    #expect(follower.progress.lostCount == 0)
                }
            }
        }
    }

    @Test func aSmallRefinementMovesNothing() throws {
        try withStorePath { path in
            let opened = try open(path)
            let follower = try Follower(path, #require(opened.outputs.progress.first))
            try opened.store.commit(batch(Fixture.readings(count: 9)))
            let refined = Fixture.mapping(offset: Fixture.unixOffset + .milliseconds(300))
            try opened.store.commit(batch(Fixture.readings(first: 10, count: 3), clocks: [refined]))
            try follower.follow()
            for (sequence, times) in follower.times { #expect(times == [utc(sequence)]) }
            #expect(follower.redatings.isEmpty)
        }
    }

    @Test func correctionsAreTold() throws {
        try withStorePath { path in
            let opened = try open(path)
            let follower = try Follower(path, #require(opened.outputs.progress.first))
            try opened.store.commit(batch(Fixture.readings(count: 3)))
            try follower.follow()
            let moved = Fixture.mapping(offset: Fixture.unixOffset + .seconds(9))
            try opened.store.commit(batch(Fixture.readings(first: 4, count: 1), clocks: [moved]))
            try follower.follow()
            #expect(follower.batches.map(\.isCorrection) == [false, true, false])
            #expect(follower.batches.map(\.isHistorical) == [false, true, false])
            #expect(
                follower.redatings == [
                    OutputRedating(
                        peer: Fixture.key().peer, run: Fixture.key().run,
                        formerUTC: utc(1)...utc(3))
                ])
        }
    }

    @Test func whatWasCommittedLongAgoIsHistorical() throws {
        try withStorePath { path in
            let opened = try open(path)
            let follower = try Follower(path, #require(opened.outputs.progress.first))
            let time: Int64 = 1_000_000_000_000
            try opened.store.commit(batch(Fixture.readings(count: 3)), utc: time)
            let minute: Int64 = 61_000_000_000
            try opened.store.commit(batch(Fixture.readings(first: 4, count: 3)), utc: time + minute)
            let page = try follower.feed.next(
                after: follower.progress.cursor, utc: time + minute)
            #expect(page.batch.isHistorical)
            #expect(page.batch.readings.map(\.sequence) == [1, 2, 3])
            #expect(page.isMore)
            #expect(page.waitingCount == 6)
            #expect(page.since == time)
            let rest = try follower.feed.next(after: page.cursor, utc: time + minute)
            #expect(!rest.batch.isHistorical)
            #expect(rest.waitingCount == 3)
        }
    }

    @Test func theAgeOfWhatWaitsIsThatOfTheOldestReadingNotOfItsCommit() throws {
        try withStorePath { path in
            let opened = try open(path, [])
            try opened.store.commit(batch(Fixture.readings(count: 20)))
            let database = try opened.store.register([Self.database]).progress[0]
            let follower = try Follower(path, database)
            let day: Int64 = 86_400_000_000_000
            let before = try follower.feed.next(after: database.cursor, limit: 7, utc: utc(20))
            #expect(before.oldest == utc(1))
            #expect(before.since == utc(1))
            try follower.follow()
            // A board that was away brings what it has.
            try opened.store.commit(
                batch(Fixture.readings(first: 21, count: 3)), utc: utc(21) + day)
            let page = try follower.feed.next(after: follower.progress.cursor, utc: utc(21) + day)
            #expect(page.oldest == utc(21))
            #expect(page.since == utc(21) + day)
            let rest = try follower.feed.next(after: page.cursor, utc: utc(21) + day)
            #expect(rest.oldest == nil)
        }
    }

    @Test func theLogIsEmptyWhenEverybodyHasItAndWhileNobodyAsks() throws {
        try withStorePath { path in
            let opened = try open(path, [])
            let store = opened.store
            let rows = { try store.database.integer("SELECT count(*) FROM changes") }
            try store.commit(batch(Fixture.readings(count: 3)))
            #expect(try rows() == 0)
            let registered = try store.register([Self.broker])
            try store.commit(batch(Fixture.readings(first: 4, count: 3)))
            _ = try store.finish()
            #expect(try rows() == 1)
            let follower = try Follower(path, #require(registered.progress.first))
            try follower.follow()
            try store.commit(StoreBatch(), progress: [follower.progress])
            _ = try store.finish()
            #expect(try rows() == 0)
            // Numbers go on where they were, though the table is empty.
            try store.commit(batch(Fixture.readings(first: 7, count: 3)))
            try follower.follow()
            #expect(follower.times.keys.sorted() == Array(4...9))
            #expect(try store.register([]).departed.map(\.name) == ["broker"])
            try store.commit(batch(Fixture.readings(first: 10, count: 3)))
            _ = try store.finish()
            #expect(try rows() == 0)
            // A late word of its thread does not bring it back.
            try store.save([follower.progress])
            #expect(try store.register([Self.broker]).progress != [follower.progress])
        }
    }

    @Test func wordsOfTheFleetReachOutputs() throws {
        try withStorePath { path in
            let opened = try open(path)
            var air = ChannelWords(channel: "air")
            air.offset = DecimalValue(coefficient: 100, exponent: -2)
            var north = AgentWords(node: "north")
            north.rename = "cellar"
            north.channels = [air]
            let words = FleetWords([north])
            let progress = try #require(opened.outputs.progress.first)
            let feed = try OutputFeed(path, output: "broker", words: words)
            try opened.store.commit(batch([Fixture.reading(1, at: 1_000, 2_000)]))
            let batch = try feed.next(after: progress.cursor, utc: 0).batch
            #expect(batch.series.first?.node.name == "cellar")
            #expect(
                batch.readings.first?.outcome
                    == .value(DecimalValue(coefficient: 2_100, exponent: -2)))
        }
    }
}
