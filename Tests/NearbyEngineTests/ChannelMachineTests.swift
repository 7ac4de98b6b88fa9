import NearbyCore
import NearbySimulator
import NearbyWire
import Testing

@testable import NearbyEngine

/// Two nodes' channels and nothing else, on a link that loses nothing unless told to.
private struct ChannelPair {
    private(set) var machines: [ChannelMachine]
    /// What each said, without what was passed on.
    private(set) var said: [[ChannelMachine.Output]] = [[], []]
    var verdict = DecisionFrame.Verdict.accepted
    private var wire: [(datagram: [UInt8], receiver: Int)] = []

    static let peers = [PeerID(high: 1, low: 1), PeerID(high: 2, low: 2)]

    static func endpoint(_ side: Int) -> Endpoint {
        Endpoint(link: LinkID(value: 1), address: .simulated(UInt64(side)))
    }

    init(secrets: [UInt8] = [7, 7]) {
        machines = (0..<2).map { side in
            var configuration = NodeConfiguration(
                name: "node \(side)", role: side == 0 ? .agent : .collector,
                networkTag: NetworkTag(value: 1), run: RunID(value: UInt64(side) + 1), seed: 1)
            configuration.secrets = [[UInt8](repeating: secrets[side], count: 16)]
            let cryptography = SimulatedCryptography(
                peer: Self.peers[side], seed: UInt64(side) + 5)
            return ChannelMachine(
                terms: AdmissionTerms(configuration, cryptography), cryptography: cryptography,
                isDialed: true, timers: NodeTimers())
        }
    }

    mutating func invite() {
        give(.invite(Self.peers[1], over: .link(Self.endpoint(1)), attempt: 3, nonce: 9), to: 0)
        while !wire.isEmpty {
            let (datagram, receiver) = wire.removeFirst()
            received(datagram, by: receiver)
        }
    }

    private mutating func give(_ input: ChannelMachine.Input, to side: Int) {
        let outputs = machines[side].handle(
            input, peers: Peers(), discovery: DiscoveryMachineTests.machine(),
            routing: RoutingMachine(own: Self.peers[side], kind: .node), hasRoute: false,
            now: .zero)
        pass(outputs, of: side)
    }

    private mutating func pass(_ outputs: [ChannelMachine.Output], of side: Int) {
        for output in outputs {
            said[side].append(output)
            switch output {
            case .transmit(let datagram, _): wire.append((datagram, 1 - side))
            case .keyed(let channel): give(.admit(channel, isShortcut: false), to: side)
            case .invited(let channel):
                let decision = DecisionFrame(verdict: verdict, retryAfter: .zero)
                give(.admission(.decide(decision), channel), to: side)
            default: break
            }
        }
    }

    private mutating func received(_ datagram: [UInt8], by side: Int) {
        if DatagramKind(firstByte: datagram[0]) == .handshake {
            let arrival = Arrival(path: .link(Self.endpoint(1 - side)))
            return give(.handshake(datagram, arrival, isBare: false), to: side)
        }
        guard case .frame(let payload, let channel, _) = machines[side].open(datagram, now: .zero),
            let frame = try? Frame(parsing: payload), case .channel(let frame) = frame
        else { return }
        switch frame {
        case .admit(let frame): give(.admission(.admit(frame), channel), to: side)
        case .invite(let frame): give(.admission(.invite(frame), channel), to: side)
        case .decision(let frame): give(.admission(.decision(frame), channel), to: side)
        case .close, .path: break
        }
    }

    func opened(_ side: Int) -> PeerChannel? {
        for case .opened(let channel) in said[side] { return channel }
        return nil
    }

    func reasons(_ side: Int) -> [DropReason] {
        said[side].compactMap { if case .drop(let reason) = $0 { reason } else { nil } }
    }
}

struct ChannelMachineTests {
    @Test func aHandshakeBecomesAnOpenChannelOnBothSides() throws {
        var pair = ChannelPair()
        pair.invite()
        let (one, other) = (pair.opened(0), pair.opened(1))
        let client = try #require(one)
        let server = try #require(other)
        #expect(client.peer == ChannelPair.peers[1] && server.peer == ChannelPair.peers[0])
        #expect(client.peerTerms?.name == "node 1" && server.peerTerms?.name == "node 0")
        #expect(client.stage == .open && server.stage == .open)
        #expect(client.attemptNumber == 3 && server.attemptNumber == 3)
        #expect(pair.machines[1].inboundCount == 0)
    }

    @Test func aDeclinedOneIsForgottenOnBothSides() {
        var pair = ChannelPair()
        pair.verdict = .declined
        pair.invite()
        #expect(pair.opened(0) == nil && pair.opened(1) == nil)
        #expect(pair.machines.map(\.count) == [0, 0])
        #expect(pair.machines[1].inboundCount == 0)
    }

    @Test func whoHasAnotherSecretIsRefusedAndForgotten() {
        var pair = ChannelPair(secrets: [7, 8])
        pair.invite()
        #expect(pair.opened(0) == nil && pair.opened(1) == nil)
        #expect(pair.reasons(1) == [.admissionSecret])
        #expect(pair.machines[1].count == 0 && pair.machines[1].inboundCount == 0)
    }

    @Test func whatIsSealedForARemovedChannelIsUnknown() throws {
        var pair = ChannelPair()
        pair.invite()
        let (one, other) = (pair.opened(0), pair.opened(1))
        let client = try #require(one)
        let server = try #require(other)
        let payload = PathFrame(isResponse: false, token: 5).bytes
        let sealed = client.seal?.seal(payload, priority: .control)
        let datagram = try #require(sealed)
        var machine = pair.machines[1]
        machine.remove(server)
        guard case .unknownChannel(let index) = machine.open(datagram, now: .zero) else {
            Issue.record("it was opened")
            return
        }
        #expect(index == server.seal?.localIndex)
        #expect(machine[server.token] == nil && machine.channel(of: server.key) == nil)
    }
}
