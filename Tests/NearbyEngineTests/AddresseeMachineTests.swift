import NearbyCore
import NearbyWire
import Testing

@testable import NearbyEngine

/// A third node's view of a quiet network with a collector (0) and a viewer (1).
struct AddresseeMachineTests {
    private let routing: RoutingMachine
    private let collector = RoutingNetwork.peer(0)
    private let viewer = RoutingNetwork.peer(1)

    init() {
        var network = RoutingNetwork.random(seed: 3)
        network.raiseAll()
        network.run(for: .seconds(10))
        routing = network.machines[2]
    }

    private func machine(collectors: Set<PeerID> = []) -> AddresseeMachine {
        AddresseeMachine(role: .agent, collectors: collectors, salt: 1, seed: 1)
    }

    private func view(
        _ admitted: [(PeerID, Role)] = [], heardSince: Instant? = nil
    ) -> AddresseeMachine.View {
        let peers = Peers()
        for (peer, role) in admitted {
            peers.add(Association.fresh(with: peer, as: role))
        }
        return .init(routing: routing, peers: peers, heardSince: { _ in heardSince })
    }

    @Test func aCollectorIsCalledAtOnceAndThenEverMoreRarely() throws {
        var machine = machine()
        let outputs = machine.handle(
            .routeChanged(collector, .collector, metric: 96), seeing: view(), now: .zero)
        #expect(outputs == [.dial(collector), .routeToCollectorChanged])
        var pauses: [Duration] = []
        var now = Instant.zero
        var last = now
        while pauses.count < 12 {
            // The viewer is called too, in its own time.
            now = try #require(machine.nextDeadline)
            let outputs = machine.handle(.deadlineReached, seeing: view(), now: now)
            guard outputs.contains(.dial(collector)) else { continue }
            pauses.append(now - last)
            last = now
        }
        #expect(pauses[0] < .seconds(1) && pauses[11] >= Limits.dialBackoffMax)
        #expect(pauses.allSatisfy { $0 <= Limits.dialBackoffMax * 2 })
    }

    /// Who is heard for the first time is about to be a neighbour; who has been near for long, and
    /// is none, is called over the mesh soon after it was wanted.
    @Test(arguments: [(0, 1_000), (400, 1_000), (900, 1_100), (60_000, 60_200)])
    func whoIsHeardIsCalledALittleLater(_ milliseconds: Int, _ due: Int) throws {
        var machine = machine()
        let heard = view(heardSince: .zero)
        let outputs = machine.handle(
            .routeChanged(collector, .collector, metric: 96), seeing: heard,
            now: .zero + .milliseconds(milliseconds))
        #expect(!outputs.contains(.dial(collector)))
        // The viewer may be due before it.
        var dialed: Instant?
        while dialed == nil {
            let next = try #require(machine.nextDeadline)
            let outputs = machine.handle(.deadlineReached, seeing: heard, now: next)
            if outputs.contains(.dial(collector)) { dialed = next }
        }
        #expect(dialed == .zero + .milliseconds(due))
    }

    /// A member can announce and retract it with each message.
    @Test(arguments: [nil, Instant.zero])
    func whoIsRetractedAgainAndAgainIsNotCalledEachTime(_ heardSince: Instant?) {
        var machine = machine()
        let view = view(heardSince: heardSince)
        var dials = 0
        for microseconds in 0..<1_000 {
            let now = Instant.zero + .seconds(60) + .microseconds(10 * microseconds)
            for metric in [nil, 96] as [UInt16?] {
                let outputs = machine.handle(
                    .routeChanged(collector, .collector, metric: metric), seeing: view, now: now)
                dials += outputs.count { $0 == .dial(collector) }
            }
        }
        #expect(dials <= 1)
        #expect(machine.nextDeadline != nil)
    }

    /// Nor any number of others.
    @Test func notAnyNumberIsCalledAtOnce() {
        var network = RoutingNetwork.random(seed: 25)
        network.raiseAll()
        network.run(for: .seconds(10))
        let view = AddresseeMachine.View(
            routing: network.machines[2], peers: Peers(), heardSince: { _ in nil })
        var machine = machine()
        var dials = 0
        for number in 3..<30 {
            let outputs = machine.handle(
                .dialed(RoutingNetwork.peer(number), true), seeing: view, now: .zero)
            dials += outputs.count { if case .dial = $0 { true } else { false } }
        }
        #expect(dials == Limits.dialsLatelyMax)
        // The others have their turn.
        let later = machine.handle(
            .deadlineReached, seeing: view, now: .zero + Limits.dialBackoff)
        #expect(later.count { if case .dial = $0 { true } else { false } } >= 11)
    }

    /// A relay on the way can say so in the collector's name.
    @Test func aChannelThatIsUnknownAgainAndAgainIsRenewedMoreAndMoreRarely() {
        var machine = machine()
        _ = machine.handle(
            .routeChanged(collector, .collector, metric: 96), seeing: view(), now: .zero)
        let open = view([(collector, .collector)])
        _ = machine.handle(.associated(collector), seeing: open, now: .zero)
        var dials: [Int] = []
        for second in 1...60 {
            let now = milliseconds(Int64(second) * 1_000)
            let outputs = machine.handle(.channelUnknown(collector), seeing: open, now: now)
            if outputs == [.dial(collector)] { dials.append(second) }
        }
        #expect(dials == [1, 2, 4, 8, 16, 32, 48])
    }

    @Test func itIsAddressedWhileItsChannelIsOpen() {
        var machine = machine()
        _ = machine.handle(
            .routeChanged(collector, .collector, metric: 96), seeing: view(), now: .zero)
        let open = view([(collector, .collector)])
        #expect(
            machine.handle(.associated(collector), seeing: open, now: .zero)
                == [.collector(collector)])
        #expect(machine.collector == collector)
        #expect(
            machine.handle(.dissociated(collector), seeing: view(), now: .zero)
                == [.collector(nil)])
        // And called again.
        #expect(machine.nextDeadline == .zero)
    }

    @Test func whoWasAdmittedAsSomethingElseIsNotAddressed() {
        var machine = machine()
        _ = machine.handle(
            .routeChanged(collector, .collector, metric: 96), seeing: view(), now: .zero)
        let outputs = machine.handle(
            .associated(collector), seeing: view([(collector, .agent)]), now: .zero)
        #expect(outputs.prefix(2) == [.drop(.roleNotAdmitted), .noCollector(collector)])
        #expect(machine.collector == nil)
    }

    @Test func whoIsNotAmongTheNamedCollectorsIsCounted() {
        var machine = machine(collectors: [RoutingNetwork.peer(5)])
        let outputs = machine.handle(
            .routeChanged(collector, .collector, metric: 96), seeing: view(), now: .zero)
        #expect(outputs == [.drop(.roleNotAdmitted)])
        #expect(machine.dialCount == 0 && machine.nextDeadline == nil)
    }

    @Test func aViewerThatLooksInIsTold() {
        var machine = machine()
        _ = machine.handle(.routeChanged(viewer, .viewer, metric: 96), seeing: view(), now: .zero)
        #expect(machine.dialCount == 1)
        let open = view([(viewer, .viewer)])
        #expect(
            machine.handle(.associated(viewer), seeing: open, now: .zero) == [.viewers([viewer])])
    }

    @Test func collectorsAndViewersCallNobody() {
        for role in [Role.collector, .viewer] {
            var machine = AddresseeMachine(role: role, collectors: [], salt: 1, seed: 1)
            let outputs = machine.handle(
                .routeChanged(collector, .collector, metric: 96), seeing: view(), now: .zero)
            #expect(outputs == [.routeToCollectorChanged])
            #expect(machine.dialCount == 0)
        }
    }
}
