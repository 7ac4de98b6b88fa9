import NearbyCore
import NearbyWire
import Testing

@testable import NearbyEngine

/// One node's peers; what they send is left to itself.
struct PeerMachineTests {
    private let peer = PeerID(high: 1, low: 1)
    private let wifi = LinkChoiceTests.wifi
    private let bluetooth = LinkChoiceTests.bluetooth
    private var machine = PeerMachine(
        own: PeerID(high: 99, low: 1), rekeyAfter: .seconds(86_400), timers: NodeTimers(), seed: 1)
    private let view = Self.view(isFull: false)

    private static func view(isFull: Bool) -> PeerMachine.View {
        var links = LinkTable()
        links.add(LinkChoiceTests.wifi.endpoint.link, .wifi)
        links.add(LinkChoiceTests.bluetooth.endpoint.link, .bluetooth)
        return .init(links: links, isFull: { isFull }, hasWay: { true })
    }

    private mutating func use(
        _ channel: PeerChannel, renewedAt: Instant? = nil, now: Instant = .zero
    ) -> [PeerMachine.Output] {
        machine.handle(
            .use(channel, nextHop: nil, renewedAt: renewedAt), seeing: view, now: now)
    }

    @Test func aChannelOnALinkMakesANeighbour() {
        var world = self
        let outputs = world.use(.fresh(with: peer))
        #expect(outputs.contains { if case .neighbourUp = $0 { true } else { false } })
        #expect(outputs.contains { if case .associated(peer) = $0 { true } else { false } })
        #expect(world.machine.peers.neighbour(peer)?.endpoint == wifi.endpoint)
        // The same once more is no news.
        if let channel = world.machine.peers[peer]?.channel {
            let again = world.use(channel)
            #expect(again.isEmpty)
        }
    }

    /// The channel is kept for the answer only; what else comes on it is nobody's.
    @Test func whatADeclinedPeerSendsIsDroppedAndCounted() {
        var world = self
        let channel = PeerChannel.fresh(with: peer)
        channel.stage = .closing(at: .zero + Limits.declinedChannelTime)
        let arrival = Arrival(path: channel.path)
        let hop = world.machine.handle(
            .hopFrame(.empty, on: channel, arrival), seeing: view, now: .zero)
        #expect(world.drops(hop) == [.frameNotAdmitted] && hop.count == 1)
        let segment = SegmentFrame(number: 0, offset: 0, data: [1, 2])
        let endToEnd = world.machine.handle(
            .endToEndFrame(.segment(segment), on: channel, arrival), seeing: view, now: .zero)
        #expect(world.drops(endToEnd) == [.frameNotAdmitted] && endToEnd.count == 1)
        #expect(world.machine.peers.neighbourCount == 0)
    }

    @Test func aChannelOverTheMeshMakesNone() {
        var world = self
        let outputs = world.use(.fresh(with: peer, over: .mesh(peer.short)))
        #expect(world.machine.peers.neighbourCount == 0)
        #expect(outputs.contains { if case .associated(peer) = $0 { true } else { false } })
    }

    @Test func aChannelOnALinkOutlastsOneOverTheMeshUnlessItIsLost() {
        var world = self
        let first = PeerChannel.fresh(with: peer)
        _ = world.use(first)
        let second = PeerChannel.fresh(with: peer, token: 2, over: .mesh(peer.short))
        let outputs = world.use(second)
        #expect(outputs.isEmpty)
        #expect(second.stage == .closing(at: .zero + Limits.replacedChannelTime))
        #expect(world.machine.peers[peer]?.token == first.token)
        let third = PeerChannel.fresh(with: peer, token: 3, over: .mesh(peer.short))
        _ = world.use(third, renewedAt: .zero)
        #expect(world.machine.peers[peer]?.token == third.token)
        #expect(first.stage == .closing(at: .zero + Limits.replacedChannelTime))
    }

    @Test func whatIsUnacknowledgedGoesAgainOverTheNextChannel() {
        var world = self
        _ = world.use(.fresh(with: peer))
        let sent = world.machine.handle(
            .sendReliable([1, 2, 3], to: peer), seeing: view, now: .zero)
        #expect(world.frames(sent).count == 1)
        let outputs = world.use(.fresh(with: peer, token: 2))
        #expect(world.frames(outputs).count == 1)
    }

    @Test func aPeerThatRestartedIsToldEverythingAnew() {
        var world = self
        _ = world.use(.fresh(with: peer))
        let outputs = world.use(.fresh(with: peer, run: 2, token: 2))
        #expect(outputs.contains { if case .neighbourRestarted(peer) = $0 { true } else { false } })
        #expect(outputs.contains { if case .neighbourUp = $0 { true } else { false } })
    }

    @Test func theNeighbourIsGoneBeforeItsPlaceIsGivenBack() throws {
        var world = self
        let channel = PeerChannel.fresh(with: peer)
        _ = world.use(channel)
        let outputs = world.machine.handle(.closed(channel), seeing: view, now: .zero)
        #expect(world.machine.peers.neighbourCount == 0)
        let down = outputs.firstIndex { if case .neighbourDown = $0 { true } else { false } }
        let closed = outputs.firstIndex {
            if case .invitation(.channelClosed(channel.token)) = $0 { true } else { false }
        }
        let (first, last) = (try #require(down), try #require(closed))
        #expect(first < last)
        // A channel that was replaced carries nobody.
        let again = world.machine.handle(.closed(channel), seeing: view, now: .zero)
        #expect(again.isEmpty)
    }

    @Test func aSessionThatIsBrokenClosesItsChannel() {
        var world = self
        let channel = PeerChannel.fresh(with: peer)
        _ = world.use(channel)
        // The length of a message, far beyond the limit.
        let data: [UInt8] = [0xff, 0xff, 0xff, 0x7f]
        let segment = SegmentFrame(number: 0, offset: 0, data: data[...])
        let outputs = world.machine.handle(
            .endToEndFrame(.segment(segment), on: channel, Arrival(path: channel.path)),
            seeing: view, now: .zero)
        #expect(outputs.contains { if case .close(_, .dropped) = $0 { true } else { false } })
    }

    @Test func howFarMessagesComeIsToldWhenItChanges() {
        var world = self
        let channel = PeerChannel.fresh(with: peer, over: .mesh(peer.short))
        _ = world.use(channel)
        let told = [3, 3, 2, 2, 3].map { hops in
            world.machine.handle(
                .endToEndFrame(
                    .message([1]), on: channel, Arrival(path: channel.path, hops: hops)),
                seeing: view, now: .zero
            ).compactMap { if case .heard(peer, let hops) = $0 { hops } else { nil } }
        }
        #expect(told == [[3], [], [2], [], [3]])
    }

    @Test func anAnswerOnALinkMakesANeighbourIfThereIsRoom() throws {
        for isFull in [false, true] {
            var world = PeerMachineTests()
            let channel = PeerChannel.fresh(with: peer, over: .mesh(peer.short))
            _ = world.use(channel)
            let asked = world.machine.handle(
                .challenge(channel, at: bluetooth.endpoint), seeing: view, now: .zero)
            guard case .send(let question, _, _)? = asked.first else {
                Issue.record("nothing was asked")
                return
            }
            let again = world.machine.handle(
                .challenge(channel, at: bluetooth.endpoint), seeing: view, now: .zero)
            #expect(again.isEmpty)
            guard case .channel(.path(let frame)) = try Frame(parsing: question[...]) else {
                Issue.record("it is no question")
                return
            }
            let outputs = world.machine.handle(
                .pathFrame(
                    PathFrame(isResponse: true, token: frame.token), on: channel,
                    Arrival(path: .link(bluetooth.endpoint))), seeing: Self.view(isFull: isFull),
                now: .zero)
            #expect(world.machine.peers.isNeighbour(peer) == !isFull)
            #expect(
                outputs.contains { if case .close(_, .dropped) = $0 { true } else { false } }
                    == isFull)
        }
    }

    private func drops(_ outputs: [PeerMachine.Output]) -> [DropReason] {
        outputs.compactMap { if case .drop(let reason) = $0 { reason } else { nil } }
    }

    private func frames(_ outputs: [PeerMachine.Output]) -> [[UInt8]] {
        outputs.compactMap { if case .enqueue(let payload, _, _) = $0 { payload } else { nil } }
    }
}
