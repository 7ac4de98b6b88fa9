import NearbyCore
import NearbySimulator
import NearbyWire
import Testing

@testable import NearbyEngine

/// Beacons of a few nodes on one link, and what becomes of them.
struct RendezvousMachineTests {
    private static let link = LinkID(value: 1)

    private static func endpoint(_ node: UInt64) -> Endpoint {
        Endpoint(link: link, address: .simulated(node))
    }

    private static var view: RendezvousMachine.View {
        var links = LinkTable()
        links.add(link, .ethernet)
        return .init(links: links, peers: Peers())
    }

    private static func machine(
        _ number: UInt64, run: UInt64 = 1, secret: UInt8 = 7, role: Role = .agent
    ) -> RendezvousMachine {
        var configuration = NodeConfiguration(
            name: "", role: role, networkTag: NetworkTag(value: 1), run: RunID(value: run),
            seed: number)
        configuration.secrets = [[UInt8](repeating: secret, count: 16)]
        let cryptography = SimulatedCryptography(
            peer: PeerID(high: number, low: 0), seed: number)
        var random = SeededGenerator(seed: number &+ run)
        var machine = RendezvousMachine(configuration, cryptography, random: &random)
        for input in [.start, .linkUp(link, hasBroadcast: true)] as [DiscoveryMachine.Input] {
            _ = machine.handle(.discovery(input), seeing: view, now: .zero)
        }
        return machine
    }

    /// The beacons that it sends within ten seconds, with the time of each.
    private static func beacons(
        of machine: inout RendezvousMachine
    ) -> [(bytes: [UInt8], time: Instant)] {
        var beacons: [(bytes: [UInt8], time: Instant)] = []
        while let deadline = machine.discovery.nextDeadline, deadline < .zero + .seconds(10) {
            let outputs = machine.handle(
                .discovery(.deadlineReached), seeing: view, now: deadline)
            for case .transmit(.multicast(let bytes, _)) in outputs {
                beacons.append((bytes, deadline))
            }
        }
        return beacons
    }

    /// What the first says to the beacons of the second.
    private static func heard(
        _ sender: RendezvousMachine, by receiver: inout RendezvousMachine
    ) -> [RendezvousMachine.Output] {
        var sender = sender
        return beacons(of: &sender).flatMap { bytes, time in
            receiver.handle(
                .datagram(bytes, from: endpoint(2), isMulticast: false), seeing: view, now: time)
        }
    }

    @Test func theLowerPeerInvitesWhereTheOtherWasHeard() {
        var machine = Self.machine(1)
        let outputs = Self.heard(Self.machine(2), by: &machine)
        let invited = outputs.compactMap { output in
            if case .invite(let peer, let endpoint, _) = output { (peer, endpoint) } else { nil }
        }
        #expect(invited.count == 1)
        #expect(invited.first?.0 == PeerID(high: 2, low: 0))
        #expect(invited.first?.1 == Self.endpoint(2))
        #expect(machine.endpoints(of: PeerID(high: 2, low: 0)) == [Self.endpoint(2)])
    }

    /// However many others were invited before.
    @Test(arguments: 2...8 as ClosedRange<UInt64>)
    func whoRestartedIsInvitedAtItsNewAddress(_ others: UInt64) {
        var machine = Self.machine(1)
        var invited: [Endpoint] = []
        // Nobody answers.
        func take(_ outputs: [RendezvousMachine.Output], _ now: Instant) {
            for case .invite(let peer, let endpoint, let attempt) in outputs {
                if peer.high == 50 { invited.append(endpoint) }
                let failed = InvitationMachine.Input.failed(peer, attempt)
                _ = machine.handle(.invitation(failed), seeing: Self.view, now: now)
            }
        }
        func hear(_ node: UInt64, run: UInt64, at endpoint: Endpoint) {
            var sender = Self.machine(node, run: run)
            for (bytes, time) in Self.beacons(of: &sender).prefix(1) {
                let input = RendezvousMachine.Input.datagram(
                    bytes, from: endpoint, isMulticast: false)
                take(machine.handle(input, seeing: Self.view, now: time), time)
            }
        }
        for node in 2...others { hear(node, run: 1, at: Self.endpoint(node)) }
        hear(50, run: 1, at: Self.endpoint(100))
        hear(50, run: 2, at: Self.endpoint(101))
        let later = Instant.zero + .seconds(3)
        take(machine.handle(.deadlineReached, seeing: Self.view, now: later), later)
        #expect(invited == [Self.endpoint(100), Self.endpoint(101)])
    }

    @Test func anInvitationWithoutALinkFails() {
        var machine = Self.machine(1)
        var other = Self.machine(2)
        let nowhere = RendezvousMachine.View(links: LinkTable(), peers: Peers())
        for (bytes, time) in Self.beacons(of: &other) {
            let outputs = machine.handle(
                .datagram(bytes, from: Self.endpoint(2), isMulticast: false), seeing: nowhere,
                now: time)
            #expect(!outputs.contains { if case .invite = $0 { true } else { false } })
            for case .unreachable(let peer, let attempt) in outputs {
                _ = machine.handle(
                    .invitation(.failed(peer, attempt)), seeing: nowhere, now: time)
            }
        }
        // And is tried again later.
        #expect(machine.invitation.nextDeadline != nil)
    }

    @Test func aNodeWithAnotherSecretIsRefusedOnce() {
        var machine = Self.machine(1)
        let outputs = Self.heard(Self.machine(2, secret: 8), by: &machine)
        let refused = outputs.compactMap { output in
            if case .event(.diagnostic(.nodeRefused(let node))) = output { node } else { nil }
        }
        #expect(refused.map(\.cause) == [.otherSecret])
        #expect(machine.refusals[PeerID(high: 2, low: 0)]?.endpoint == Self.endpoint(2))
        #expect(outputs.contains { if case .drop(.beaconBadProof) = $0 { true } else { false } })
        _ = machine.handle(.opened(PeerID(high: 2, low: 0)), seeing: Self.view, now: .zero)
        #expect(machine.refusals[PeerID(high: 2, low: 0)] == nil)
    }

    @Test func whoUsesOurNameIsAskedForItsProof() {
        var machine = Self.machine(1)
        let outputs = Self.heard(Self.machine(1, run: 2), by: &machine)
        let asked = outputs.compactMap { output in
            if case .detectClone(let endpoint) = output { endpoint } else { nil }
        }
        #expect(asked == [Self.endpoint(2)])
    }

    @Test func aWayToACollectorIsInTheNextBeacon() throws {
        var machine = Self.machine(1)
        _ = machine.handle(.costToCollector(96), seeing: Self.view, now: .zero)
        let bytes = try #require(Self.beacons(of: &machine).first?.bytes)
        let frame = try DiscoveryFrame(parsing: bytes[...])
        guard case .beacon(let beacon) = frame.body else {
            Issue.record("it is no beacon")
            return
        }
        #expect(beacon.flags.contains(.hasRoute))
        #expect(beacon.costToCollector == 96)
    }
}
