import NearbyCore
import NearbyWire
import Testing

@testable import NearbyEngine

/// A collector with many neighbours, which are not all looked at each time.
struct RoutingCrowdTests {
    private static let peers = (1...40).map { RoutingNetwork.peer($0) }

    /// What each was sent, by numbered message.
    private static func sent(_ outputs: [RoutingMachine.Output]) -> [PeerID: RoutingMessage] {
        var sent: [PeerID: RoutingMessage] = [:]
        for case .send(let message, let peer) in outputs { sent[peer] = message }
        return sent
    }

    private static func crowd() -> (RoutingMachine, [PeerID: RoutingMessage]) {
        var machine = RoutingMachine(own: RoutingNetwork.peer(0), kind: .collector)
        var first: [PeerID: RoutingMessage] = [:]
        for peer in peers {
            let outputs = machine.handle(.neighbourUp(peer, cost: 96), now: .zero)
            first.merge(sent(outputs)) { $1 }
        }
        return (machine, first)
    }

    private static func acknowledge(
        _ message: RoutingMessage?, by peer: PeerID, _ machine: inout RoutingMachine,
        at now: Instant
    ) -> [PeerID: RoutingMessage] {
        let answer = RoutingMessage(
            number: 0, acknowledged: message?.number ?? 0, items: [])
        return sent(machine.handle(.received(answer, from: peer), now: now))
    }

    @Test func whatIsNotAcknowledgedIsRepeatedToThoseAlone() throws {
        var (machine, first) = Self.crowd()
        #expect(Set(first.keys) == Set(Self.peers))
        let silent = Set(
            Self.peers.enumerated().filter { $0.offset.isMultiple(of: 3) }.map(\.element))
        for peer in Self.peers where !silent.contains(peer) {
            _ = Self.acknowledge(first[peer], by: peer, &machine, at: .zero + .milliseconds(1))
        }
        var repeated: Set<PeerID> = []
        while let deadline = machine.nextDeadline, deadline <= .zero + .milliseconds(150) {
            repeated.formUnion(Self.sent(machine.handle(.deadlineReached, now: deadline)).keys)
        }
        #expect(repeated == silent)
    }

    /// And whoever was waiting for an acknowledgement hears of it with the next message.
    @Test func allHearOfANewcomer() throws {
        var (machine, first) = Self.crowd()
        let newcomer = RoutingNetwork.peer(77)
        let now = Instant.zero + .milliseconds(10)
        let update = RoutingMessage.RouteUpdate(
            destination: newcomer, seqno: 1, metric: 0, kind: .node)
        _ = machine.handle(.neighbourUp(newcomer, cost: 96), now: now)
        let message = RoutingMessage(number: 5, acknowledged: 0, items: [.update(update)])
        _ = machine.handle(.received(message, from: newcomer), now: now)
        for peer in Self.peers {
            let next = Self.acknowledge(first[peer], by: peer, &machine, at: now)
            let told = next[peer]?.items.contains {
                if case .update(let update) = $0 { update.destination == newcomer } else { false }
            }
            #expect(told == true)
        }
    }
}
