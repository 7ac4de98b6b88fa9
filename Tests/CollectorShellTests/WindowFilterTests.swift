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
        let warning = nothing.warning(on: whole, shown: none)
        let again = nothing.warning(on: whole, shown: none)
        #expect(warning?.contains("--node matches none") == true && again == nil)
        var some = filter([], ["channel-1"])
        let first = some.warning(on: whole, shown: some.shown(whole))
        let later = some.warning(on: whole, shown: none)
        #expect(first == nil && later == nil)
    }
}
