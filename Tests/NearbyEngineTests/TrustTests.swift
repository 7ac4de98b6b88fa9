import NearbyCore
import NearbySimulator
import NearbyWire
import Testing

@testable import NearbyEngine

func certification(_ roles: [Role], _ notBefore: Int64, _ notAfter: Int64) -> Certification {
    var certification = Certification(notBefore: notBefore, notAfter: notAfter)
    for role in roles { certification.add(role) }
    return certification
}

/// An agent (0) and a collector (1) on one link, who go by keys.
private struct TrustWorld {
    var nodes: [Node]
    var diagnostics: [[Node.Diagnostic]] = [[], []]
    var states: [PeerState?] = [nil, nil]
    private(set) var now = Instant.zero

    static let peers = [PeerID(high: 1, low: 0), PeerID(high: 2, low: 0)]
    private static let link = LinkID(value: 1)

    static func endpoint(_ number: Int) -> Endpoint {
        Endpoint(link: link, address: .simulated(UInt64(number)))
    }

    /// - Parameter lower: whose PeerID is the lower one, who invites.
    init(
        _ memberships: [Membership], _ certifications: [Certification?] = [nil, nil], lower: Int = 0
    ) {
        nodes = (0..<2).map { number in
            var configuration = NodeConfiguration(
                name: "node\(number)", role: number == 0 ? .agent : .collector,
                networkTag: NetworkTag(value: 1), run: RunID(value: UInt64(number)),
                seed: UInt64(number))
            configuration.membership = memberships[number]
            return Node(
                configuration,
                cryptography: SimulatedCryptography(
                    peer: Self.peers[number ^ lower], seed: UInt64(number),
                    certification: certifications[number]))
        }
        for index in nodes.indices {
            nodes[index].handle(.start, now: now)
            nodes[index].handle(.linkUp(Self.link, .ethernet), now: now)
        }
    }

    mutating func run(seconds: Int64) {
        let end = now + .seconds(seconds)
        while now < end {
            for index in nodes.indices { deliver(index) }
            now = now + .milliseconds(5)
            for index in nodes.indices
            where nodes[index].nextDeadline ?? .distantFuture <= now {
                nodes[index].handle(.deadlineReached, now: now)
            }
        }
    }

    private mutating func deliver(_ index: Int) {
        for output in nodes[index].flush(now: now) {
            let from = Self.endpoint(index)
            switch output {
            case .transmit(.multicast(let bytes, _)):
                nodes[1 - index].handle(.datagram(bytes, from: from, isMulticast: true), now: now)
            case .transmit(.unicast(let bytes, _)):
                nodes[1 - index].handle(.datagram(bytes, from: from, isMulticast: false), now: now)
            case .event(.diagnostic(let diagnostic)): diagnostics[index].append(diagnostic)
            case .event(.peer(_, let state)): states[index] = state
            default: break
            }
        }
    }

    /// What this node's clock shows now, as a time service keeps it; nil: nobody does.
    mutating func setClock(_ index: Int, to unixTime: Int64?) {
        let offset = unixTime.map { Duration.seconds($0) - (now - .zero) }
        nodes[index].handle(.clock(unixOffset: offset), now: now)
    }

    var areConnected: Bool { states == [.connected, .connected] }

    func count(_ reason: DropReason, _ index: Int) -> UInt64 {
        nodes[index].dropCounters[reason]
    }

    func causes(_ index: Int) -> [RefusedNode.Cause] {
        diagnostics[index].compactMap {
            if case .nodeRefused(let node) = $0 { node.cause } else { nil }
        }
    }

    func texts(_ index: Int) -> [String] {
        diagnostics[index].compactMap {
            if case .refused(_, _, _, let text) = $0 { text } else { nil }
        }
    }
}

struct TrustTests {
    private let all = Membership.listed(Set(TrustWorld.peers))
    private let member = certification([], 1_000, 2_000)
    private let collector = certification([.collector], 1_000, 2_000)
    private let both = [Membership.certified, .certified]

    // MARK: Pinned

    @Test(arguments: [0, 1]) func thoseThatListEachOtherAreConnected(_ lower: Int) {
        var world = TrustWorld([all, all], lower: lower)
        world.run(seconds: 5)
        #expect(world.areConnected)
        #expect(world.causes(0) == [] && world.causes(1) == [])
    }

    @Test(arguments: [0, 1]) func whoIsNotListedIsCountedAndToldOnce(_ lower: Int) {
        let others = Membership.listed([PeerID(high: 9, low: 9)])
        var world = TrustWorld([all, others], lower: lower)
        world.run(seconds: 60)
        #expect(world.states[1] != .connected && world.states[0] != .connected)
        #expect(world.causes(1) == [.notListed])
        #expect(world.count(.admissionNotListed, 1) > 0)
        // The other hears why, where it got so far.
        for text in world.texts(0) {
            #expect(text == "the other side refused: its `trust: pinned` does not list this node")
        }
        #expect(world.count(.admissionRefused, 0) == UInt64(world.texts(0).count))
    }

    @Test func whoIsNotListedHearsWhy() {
        var world = TrustWorld([.open, .listed([PeerID(high: 9, low: 9)])])
        world.run(seconds: 20)
        #expect(world.count(.admissionRefused, 0) > 0)
        #expect(world.texts(0).first?.contains("does not list this node") == true)
    }

    // MARK: Certificates

    @Test(arguments: [0, 1]) func thoseWithCertificatesAreConnected(_ lower: Int) {
        var world = TrustWorld(both, [member, collector], lower: lower)
        world.setClock(0, to: 1_500)
        world.setClock(1, to: 1_500)
        world.run(seconds: 5)
        #expect(world.areConnected)
        #expect(world.count(.certificateUndated, 0) == 0)
    }

    @Test(arguments: [0, 1]) func whoHasNoCertificateIsNotAdmitted(_ lower: Int) {
        var world = TrustWorld(both, [nil, collector], lower: lower)
        world.run(seconds: 30)
        #expect(world.states[1] != .connected)
        #expect(world.count(.admissionCertificate, 1) > 0)
        #expect(world.texts(0).first?.contains("wants a certificate of its authority") == true)
    }

    @Test(arguments: [0, 1]) func aCollectorWithoutTheRoleIsNotAdmitted(_ lower: Int) {
        var world = TrustWorld(both, [member, member], lower: lower)
        world.run(seconds: 60)
        #expect(world.states[0] != .connected)
        #expect(world.count(.admissionRole, 0) > 0)
        #expect(world.causes(0) == [.role])
        #expect(world.nodes[0].collector == nil)
    }

    @Test func withoutAClockDatesAreNotLookedAtAndThatIsCounted() {
        var world = TrustWorld(both, [member, collector])
        world.run(seconds: 5)
        #expect(world.areConnected)
        #expect(world.count(.certificateUndated, 0) == 1)
        #expect(world.count(.certificateUndated, 1) == 1)
    }

    @Test(arguments: [500, 2_500] as [Int64]) func whatIsOutsideItsDatesIsRefused(_ time: Int64) {
        var world = TrustWorld(both, [member, collector])
        world.setClock(1, to: time)
        world.run(seconds: 60)
        #expect(world.states[1] != .connected)
        #expect(world.count(.certificateExpired, 1) > 0)
        #expect(world.causes(1) == [.expired])
        #expect(world.texts(0).first?.contains("is not valid at its date") == true)
    }

    @Test func aChannelEndsOnceTheClockShowsThatTheCertificateHasExpired() {
        var world = TrustWorld(both, [member, collector])
        world.run(seconds: 5)
        #expect(world.areConnected)
        world.setClock(1, to: 2_001)
        world.run(seconds: 1)
        #expect(world.states[1] == .notConnected && world.states[0] == .notConnected)
        #expect(world.count(.certificateExpired, 1) > 0)
        #expect(world.texts(1).first?.contains("is not valid today") == true)
    }

    @Test func aChannelEndsWhenTheCertificateExpires() {
        var world = TrustWorld(both, [member, collector])
        world.setClock(1, to: 1_990)
        world.run(seconds: 5)
        #expect(world.areConnected)
        world.setClock(1, to: 1_995)
        #expect(world.areConnected)
        world.run(seconds: 10)
        // As the shell does once a minute.
        world.setClock(1, to: 2_005)
        world.run(seconds: 1)
        #expect(world.states[1] == .notConnected)
        // It is let in again with new dates only; here nobody has any.
        world.run(seconds: 30)
        #expect(world.states[1] != .connected)
    }

    @Test func aClockThatIsNotKnownAnyMoreEndsNothing() {
        var world = TrustWorld(both, [member, collector])
        world.setClock(1, to: 1_500)
        world.run(seconds: 5)
        world.setClock(1, to: nil)
        world.run(seconds: 5)
        #expect(world.areConnected)
    }
}
