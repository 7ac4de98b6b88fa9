import Collector
import NearbyCore
import Testing

@testable import CollectorShell

struct WindowFilterTests {
    private let whole: Window

    init() throws { whole = try window(channelCount: 7) }

    private func filter(_ nodes: [String] = [], _ channels: [String] = []) -> WindowFilter {
        WindowFilter(nodes: nodes.map(Glob.init), channels: channels.map(Glob.init))
    }

    @Test func nodesAreNamedOrGivenByPeerID() {
        #expect(filter().shown(whole) == whole)
        #expect(filter(["n*"]).shown(whole) == whole)
        #expect(filter(["\(PeerID(high: 1, low: 1))"]).shown(whole) == whole)
        #expect(filter(["south"]).shown(whole).rows.isEmpty)
        #expect(filter(["n*"], ["channel-[12]"]).shown(whole).rows.count == 2)
    }

    @Test func whatMatchesNothingIsToldOnceAndNotAfterAnythingWasShown() {
        var nothing = filter(["south"])
        let none = nothing.shown(whole)
        let warnings = (0..<3).map { _ in nothing.warning(on: whole, shown: none) }
        #expect(warnings[0] == nil && warnings[2] == nil)
        #expect(warnings[1]?.contains("--node matches none") == true)
        let last = nothing.lastWarning()
        #expect(last == nil)
        var some = filter([], ["channel-1"])
        let first = some.warning(on: whole, shown: some.shown(whole))
        let later = (0..<2).map { _ in some.warning(on: whole, shown: none) }
        #expect(first == nil && later == [nil, nil])
    }

    /// A node's first window may have some of its channels only.
    @Test func whatComesWithTheSecondWindowIsNotMissed() {
        var filter = filter([], ["channel-7"])
        var part = whole
        part.rows.removeAll { $0.channel.name == "channel-7" }
        let first = filter.warning(on: part, shown: filter.shown(part))
        let second = filter.warning(on: whole, shown: filter.shown(whole))
        let last = filter.lastWarning()
        #expect(first == nil && second == nil && last == nil)
    }

    @Test func aSingleWindowIsToldOfAtTheEnd() {
        var filter = filter(["south"])
        let first = filter.warning(on: whole, shown: filter.shown(whole))
        let last = filter.lastWarning()
        let again = filter.lastWarning()
        #expect(first == nil && last?.contains("(north)") == true && again == nil)
    }
}
