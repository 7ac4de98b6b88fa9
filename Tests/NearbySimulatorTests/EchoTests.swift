import NearbyCore
import NearbyEngine
import NearbyWire
import Testing

@testable import NearbySimulator

/// Round trips and hops, over whole nodes: collector – relay – relay – agent.
struct EchoTests {
    private let simulator: Simulator
    private var hosts: [Host] { simulator.hosts }

    init() {
        simulator = Simulator(seed: 11, world: .chain(4))
        simulator.trafficInterval = nil
        simulator.boot(within: .milliseconds(100))
        let simulator = simulator
        let isUp = simulator.run(
            until: { simulator.allAgentsHaveACollector }, atMost: .seconds(20))
        #expect(isUp)
        simulator.run(for: .seconds(2))
    }

    private func answer(
        _ token: UInt64, from host: Int, to peer: Int, hopLimit: UInt8? = nil
    ) -> Host.Echo? {
        simulator.ask(token, of: hosts[peer].peer, hopLimit: hopLimit, at: host)
        simulator.run(for: .milliseconds(200))
        return hosts[host].echoes[token]
    }

    private func drops(_ reason: DropReason, at host: Int) -> UInt64 {
        hosts[host].node?.dropCounters[reason] ?? 0
    }

    @Test func eachHopIsNamed() throws {
        for (hops, host) in [(1, 2), (2, 1), (3, 0)] {
            let report = try #require(
                answer(UInt64(hops), from: 3, to: 0, hopLimit: UInt8(hops)))
            #expect(report.node == hosts[host].peer.short)
            #expect(report.answer.name == "host\(host)")
            #expect(report.answer.link == .ethernet)
            #expect(report.hops == hops)
            #expect(report.time > .zero && report.time < .milliseconds(200))
        }
    }

    /// Beyond the destination the hop limit does not matter.
    @Test func theDestinationAnswersWhateverIsLeft() throws {
        let report = try #require(answer(1, from: 3, to: 1, hopLimit: 9))
        #expect(report.node == hosts[1].peer.short)
        #expect(report.hops == 2)
    }

    @Test func aPeerWithAChannelAnswersOverIt() throws {
        let far = try #require(answer(1, from: 3, to: 0))
        #expect(far.answer.name.isEmpty)
        #expect(far.node == hosts[0].peer.short)
        #expect(far.hops == 3)
        let near = try #require(answer(2, from: 3, to: 2))
        #expect(near.answer.name.isEmpty)
        #expect(near.hops == 1)
        #expect(near.time < far.time)
    }

    @Test func aNodeWithoutAChannelAnswersThroughTheMesh() throws {
        let report = try #require(answer(1, from: 3, to: 1))
        #expect(report.answer.name == "host1")
        #expect(report.node == hosts[1].peer.short)
        #expect(report.hops == 2)
    }

    @Test func withoutARouteNothingIsAwaited() {
        simulator.ask(5, of: PeerID(high: 1, low: 1), hopLimit: nil, at: 3)
        #expect(pendingCount(3) == 0)
        // Also of a peer whose channel outlives the way to it.
        simulator.ask(6, of: hosts[0].peer, hopLimit: nil, at: 3)
        #expect(pendingCount(3) == 1)
        simulator.run(for: .seconds(1))
        #expect(pendingCount(3) == 0)
        simulator.cut(lan: 2)
        simulator.run(for: .seconds(8))
        simulator.ask(7, of: hosts[0].peer, hopLimit: nil, at: 3)
        #expect(pendingCount(3) == 0)
    }

    private func pendingCount(_ host: Int) -> Int? {
        hosts[host].node?.tableSizes.first { $0.name == "echoes" }?.count
    }

    /// One that does not know the question passes others' on and answers none.
    @Test func aRelayWithoutSupportIsSilentAndThoseBehindItAnswer() throws {
        let old = PeerID(high: hosts[2].peer.high, low: 0).bytes.prefix(8)
        simulator.loses = { bytes in
            bytes.indices.contains {
                bytes[$0...].starts(with: old)
                    && bytes.dropFirst($0 + 16).first == EchoAnswer.type
            }
        }
        #expect(answer(1, from: 3, to: 0, hopLimit: 1) == nil)
        #expect(answer(2, from: 3, to: 0, hopLimit: 2)?.node == hosts[1].peer.short)
        #expect(answer(3, from: 3, to: 0, hopLimit: 3)?.node == hosts[0].peer.short)
        // The question over a channel is as old as channels.
        #expect(answer(4, from: 3, to: 2)?.answer.name == "")
    }

    @Test func whatIsLostHasNoOutcomeAndTheNextOneHas() {
        simulator.loses = { $0.contains(EchoRequest.type) }
        #expect(answer(1, from: 3, to: 1) == nil)
        #expect(hosts[3].echoes[1] == nil)
        simulator.loses = nil
        #expect(answer(2, from: 3, to: 1) != nil)
    }

    // MARK: Floods

    @Test func aFloodGetsItsShareAndOthersTheirs() {
        for token in 0..<400 as Range<UInt64> {
            simulator.ask(token, of: hosts[0].peer, hopLimit: 1, at: 3)
            if token % 20 == 19 { simulator.run(for: .milliseconds(5)) }
        }
        #expect(answer(1_000, from: 0, to: 3, hopLimit: 2)?.node == hosts[2].peer.short)
        let answered = hosts[3].echoes.count
        #expect(answered >= 16 && answered <= Limits.echoAnswersPerSource, "\(answered)")
        #expect(drops(.echoRate, at: 2) >= 200)
        simulator.run(for: .seconds(1))
        #expect(answer(2_000, from: 3, to: 0, hopLimit: 1)?.node == hosts[2].peer.short)
        #expect(simulator.invariants.failures.isEmpty)
    }

    @Test func noAnswerIsLongerThanItsQuestion() {
        var longest: [UInt8: Int] = [:]
        simulator.tap = { bytes, _ in
            for type in [EchoRequest.type, EchoAnswer.type] where bytes.contains(type) {
                longest[type] = max(longest[type] ?? 0, bytes.count)
            }
        }
        for hops in 1...3 as ClosedRange<UInt8> {
            #expect(
                answer(UInt64(hops), from: 3, to: 0, hopLimit: hops)?.answer.lossPercent == 0)
        }
        let question = longest[EchoRequest.type] ?? 0
        #expect(question > 0)
        #expect(longest[EchoAnswer.type] ?? .max <= question)
    }

    // MARK: Outsiders

    @Test func aBareQuestionIsDroppedAndCounted() {
        let before = drops(.frameUnknownType, at: 0)
        var answers = 0
        simulator.tap = { bytes, _ in answers += bytes.first == EchoAnswer.type ? 1 : 0 }
        let stranger = Endpoint(link: Host.link(0), address: .simulated(1))
        for token in 0..<10 as Range<UInt64> {
            simulator.inject(EchoRequest(token: token).bytes, to: 0, from: stranger)
            let answer = EchoAnswer(token: token, link: nil, name: "x")
            simulator.inject(answer.bytes, to: 0, from: stranger)
        }
        simulator.run(for: .milliseconds(100))
        #expect(drops(.frameUnknownType, at: 0) == before + 20)
        #expect(answers == 0)
    }
}
