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
    /// The first decision does not arrive.
    var losesDecision = false
    private(set) var now = Instant.zero
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

    mutating func invite(nonce: UInt32 = 9) {
        let path = Path.link(Self.endpoint(1))
        give(.invite(Self.peers[1], over: path, attempt: 3, nonce: nonce), to: 0)
        deliver()
    }

    /// The channel's deadline comes.
    mutating func wait(for channel: PeerChannel, of side: Int) {
        guard let deadline = channel.nextDeadline else { return }
        now = deadline
        give(.deadlineReached(channel.token, reachable: []), to: side)
        deliver()
    }

    private mutating func deliver() {
        while !wire.isEmpty {
            let (datagram, receiver) = wire.removeFirst()
            received(datagram, by: receiver)
        }
    }

    private mutating func give(_ input: ChannelMachine.Input, to side: Int) {
        let outputs = machines[side].handle(
            input, peers: Peers(), discovery: DiscoveryMachineTests.machine(),
            routing: RoutingMachine(own: Self.peers[side], kind: .node), hasRoute: false,
            now: now)
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
                if losesDecision { wire.removeLast() }
                losesDecision = false
            default: break
            }
        }
    }

    private mutating func received(_ datagram: [UInt8], by side: Int) {
        if DatagramKind(firstByte: datagram[0]) == .handshake {
            let arrival = Arrival(path: .link(Self.endpoint(1 - side)))
            return give(.handshake(datagram, arrival, isBare: false), to: side)
        }
        guard case .frame(let payload, let channel, _) = machines[side].open(datagram, now: now),
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

    func declined(_ side: Int) -> PeerChannel? {
        for case .declined(let channel, _) in said[side] { return channel }
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

    /// By the server after a second, in which it may be asked again.
    @Test func aDeclinedOneIsForgottenOnBothSides() throws {
        var pair = ChannelPair()
        pair.verdict = .declined
        pair.invite()
        #expect(pair.opened(0) == nil && pair.opened(1) == nil)
        #expect(pair.machines.map(\.count) == [0, 1])
        #expect(pair.machines[1].inboundCount == 0)
        let server = try #require(pair.declined(1))
        pair.wait(for: server, of: 1)
        #expect(pair.now == Instant.zero + Limits.declinedChannelTime)
        #expect(pair.machines.map(\.count) == [0, 0])
    }

    @Test func aLostRefusalIsSaidAgain() throws {
        var pair = ChannelPair()
        pair.verdict = .full
        pair.losesDecision = true
        pair.invite()
        #expect(pair.declined(0) == nil)
        let asking = pair.machines[0].attempts(with: ChannelPair.peers[1], number: 3).first
        pair.wait(for: try #require(asking), of: 0)
        #expect(pair.now == Instant.zero + Limits.admissionRepeat)
        #expect(pair.declined(0) != nil && pair.machines[0].count == 0)
    }

    /// Whoever is turned away again and again takes no more room than that.
    @Test func fewDeclinedOnesAreKept() {
        var pair = ChannelPair()
        pair.verdict = .full
        for nonce in 0..<100 as Range<UInt32> { pair.invite(nonce: nonce) }
        #expect(pair.machines.map(\.count) == [0, Limits.declinedChannelsMax])
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
