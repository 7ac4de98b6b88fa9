import Collector
import CollectorComposition
import NearbyCore
import NearbyEngine
import NearbySimulator
import NearbyWire
import Telemetry
import Testing

struct CollectorNodeTests {
    private let now = Instant.zero + .seconds(100)

    private func collector(isDurable: Bool) -> CollectorNode {
        let configuration = NodeConfiguration(
            name: "base", role: isDurable ? .collector : .viewer,
            networkTag: NetworkTag(value: 1), run: RunID(value: 7), seed: 1)
        let cryptography = SimulatedCryptography(peer: PeerID(high: 1, low: 1), seed: 1)
        return CollectorNode(
            node: Node(configuration, cryptography: cryptography),
            settings: CollectorNode.Settings(
                isDurable: isDurable, boot: BootID(high: 1, low: 1), seed: 1))
    }

    private let network = ClockReading(rank: .network, unixOffset: .seconds(1_795_000_000))

    /// All of it, to be compared.
    private func said(_ outputs: [CollectorNode.Output]) -> String { "\(outputs)" }

    @Test func onlyACollectorHasAStore() {
        let collector = collector(isDurable: true)
        #expect(said(collector.handle(.start, now: now)) == said([.store(.open)]))
        let tidied = collector.handle(.clock(network), now: now).prefix(1)
        #expect(said(Array(tidied)) == said([.store(.tidy(clock: network))]))
        let viewer = self.collector(isDurable: false)
        #expect(viewer.handle(.start, now: now).isEmpty)
        #expect(viewer.handle(.clock(network), now: now).isEmpty)
        _ = viewer.handle(.finish, now: now)
        #expect(viewer.isSettled)
    }

    @Test func aStoreThatRefusesIsToldOnceAndThatItWorksAgainToo() {
        let collector = collector(isDurable: true)
        #expect(
            said(collector.handle(.store(.refused("full")), now: now))
                == said([.event(.storeFailed("full"))]))
        #expect(collector.handle(.store(.refused("full")), now: now).isEmpty)
        #expect(collector.storeFault == "full")
        let committed = CollectorNode.StoreResult.committed(without: [], freeBytes: nil)
        #expect(said(collector.handle(.store(committed), now: now)) == said([.event(.storeWorks)]))
        #expect(collector.storeFault == nil)
    }

    /// A clock of the network's is a mapping to be stored.
    @Test func theEndCommitsWhatWaitsUntilTheStoreHasIt() {
        let collector = collector(isDurable: true)
        _ = collector.handle(.store(.opened([], [], diagnostics: [])), now: now)
        _ = collector.handle(.clock(network), now: now)
        #expect(!collector.isSettled)
        let jobs = collector.handle(.finish, now: now)
        guard case .store(.commit(_, network))? = jobs.last else {
            Issue.record("\(jobs)")
            return
        }
        let committed = CollectorNode.StoreResult.committed(without: [], freeBytes: nil)
        #expect(collector.handle(.store(committed), now: now).isEmpty)
        #expect(collector.isSettled)
    }

    @Test func aClockThatMovesALittleMovesNoWindow() {
        let collector = collector(isDurable: false)
        _ = collector.handle(.clock(network), now: now)
        #expect(collector.shownOffset == network.unixOffset)
        var slewed = network
        slewed.unixOffset += .milliseconds(50)
        _ = collector.handle(.clock(slewed), now: now + .seconds(60))
        #expect(collector.shownOffset == network.unixOffset)
    }
}
