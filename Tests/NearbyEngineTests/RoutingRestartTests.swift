import NearbyCore
import NearbyWire
import Testing

@testable import NearbyEngine

/// What a node is told that begins anew, and one that asks for everything.
struct RoutingRestartTests {
    private let own = RoutingNetwork.peer(0)
    private let relay = RoutingNetwork.peer(1)
    private let restarted = RoutingNetwork.peer(2)
    private let collector = RoutingNetwork.peer(3)
    private let earlierSeqno: UInt32 = 1_000
    private let newSeqno: UInt32 = 5_000_000
    private var machine = RoutingMachine(own: RoutingNetwork.peer(0), kind: .node)

    init() { _ = machine.handle(.neighbourUp(relay, cost: 96), now: .zero) }

    private mutating func hear(
        _ items: [RoutingMessage.Item], at now: Instant = .zero
    ) -> [RoutingMachine.Output] {
        let message = RoutingMessage(number: 0, acknowledged: 0, items: items)
        return machine.handle(.received(message, from: relay), now: now)
    }

    private func update(_ peer: PeerID, _ seqno: UInt32) -> RoutingMessage.Item {
        .update(.init(destination: peer, seqno: seqno, metric: 0, kind: .node))
    }

    /// Ways of others may still lead through its earlier run, so it may not forward yet; and from
    /// its new seqno alone it could not know that there was one.
    @Test mutating func aRestartIsToldThoughTheNewRunIsKnownAlready() {
        _ = hear([update(restarted, earlierSeqno)])
        _ = hear([update(restarted, newSeqno)])
        _ = hear([update(restarted, newSeqno + 1)])
        var told: [RoutingMessage.Item] = []
        for case .send(let message, restarted) in machine.handle(
            .neighbourUp(restarted, cost: 96), now: .zero)
        { told += message.items }
        #expect(told.contains(.known(seqno: earlierSeqno)))
        #expect(told.contains(.known(seqno: newSeqno + 1)))

        var other = RoutingMachine(own: restarted, kind: .node, firstSeqno: newSeqno)
        _ = other.handle(.neighbourUp(own, cost: 96), now: .zero)
        told.append(update(collector, 7))
        let message = RoutingMessage(number: 0, acknowledged: 0, items: told)
        _ = other.handle(.received(message, from: own), now: .zero)
        #expect(other.nextHop(to: collector.short) == own)
        #expect(other.forwardingHop(to: collector.short, now: .zero) == nil)
        let later = Instant.zero + Limits.restartedForwardingDelay
        #expect(other.forwardingHop(to: collector.short, now: later) == own)
    }

    @Test mutating func stepsOfOneRunAreNoRestart() {
        for seqno in earlierSeqno...earlierSeqno + 20 { _ = hear([update(restarted, seqno)]) }
        let outputs = machine.handle(.neighbourUp(restarted, cost: 96), now: .zero)
        let known = outputs.flatMap { output -> [RoutingMessage.Item] in
            guard case .send(let message, restarted) = output else { return [] }
            return message.items.filter { if case .known = $0 { true } else { false } }
        }
        #expect(known == [.known(seqno: earlierSeqno + 20)])
    }

    /// Each answer is the whole table.
    @Test mutating func whoAsksForEverythingAgainAndAgainIsAnsweredOnceInAWhile() {
        let everything = RoutingMessage.Item.request(
            destination: .wildcard, seqno: 0, hopLimit: 1)
        var now = Instant.zero + Limits.routingResendMax
        #expect(tellsOfItself(hear([everything], at: now)))
        now = now + Limits.fullUpdateInterval - .milliseconds(1)
        #expect(!tellsOfItself(hear([everything], at: now)))
        now = now + .milliseconds(1)
        #expect(tellsOfItself(hear([everything], at: now)))
    }

    /// Acknowledges at once.
    private mutating func tellsOfItself(_ outputs: [RoutingMachine.Output]) -> Bool {
        var tells = false
        for case .send(let message, relay) in outputs where message.number != 0 {
            let acknowledgement = RoutingMessage(
                number: 0, acknowledged: message.number, items: [])
            let more = machine.handle(.received(acknowledgement, from: relay), now: .zero)
            tells = tells || tellsOfItself(more)
            for case .update(let update) in message.items where update.destination == own {
                tells = true
            }
        }
        return tells
    }
}
