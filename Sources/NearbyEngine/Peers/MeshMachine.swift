import NearbyCore
import NearbyWire

/// The nodes of the network, including those behind others: the routes to them, who was in reach,
/// and whom readings are addressed to.
struct MeshMachine {
    enum Input {
        case routing(RoutingMachine.Input)
        case addressees(AddresseeMachine.Input)
        /// What the peer said of itself when its channel was opened.
        case admitted(PeerID, AdmitFrame)
        /// Messages of the peer cross so many links now.
        case heard(PeerID, hops: Int)
        case deadlineReached
    }

    enum Output {
        case send(RoutingMessage, to: PeerID)
        /// The route to a peer with an open channel changed.
        case nextHop(PeerID, PeerID?)
        // As `AddresseeMachine` says.
        case dial(PeerID)
        case giveUp(PeerID)
        /// What a route to the nearest collector costs now.
        case costToCollector(UInt16?)
        case event(NodeEvent)
        case drop(DropReason)
    }

    private(set) var routing: RoutingMachine
    private(set) var addressees: AddresseeMachine
    private(set) var book = NodeBook()
    /// Kept, since it is asked for after each datagram, and few are for this machine.
    private(set) var nextDeadline: Instant?

    init(_ configuration: NodeConfiguration, own: PeerID, random: inout SeededGenerator) {
        routing = RoutingMachine(
            own: own, kind: DestinationKind(configuration.role), forwards: configuration.forwards,
            firstSeqno: UInt32.random(in: 1...Limits.firstSeqnoMax, using: &random))
        addressees = AddresseeMachine(
            role: configuration.role, collectors: configuration.collectors,
            salt: configuration.seed, seed: random.next())
        nextDeadline = earliest
    }

    private var earliest: Instant? {
        let earliest = min(
            routing.nextDeadline ?? .distantFuture, addressees.nextDeadline ?? .distantFuture,
            book.nextDeadline ?? .distantFuture)
        return earliest == .distantFuture ? nil : earliest
    }

    /// - Parameter heardSince: since when discovery has heard a node on a link, or its present run;
    ///   nil: it does not. Asked of few: as a value discovery would be copied for each routing
    ///   message.
    mutating func handle(
        _ input: Input, peers: Peers, heardSince: @escaping (PeerID) -> Instant?, now: Instant
    ) -> [Output] {
        defer { nextDeadline = earliest }
        switch input {
        case .routing(let input): return tell(input, peers, heardSince, now)
        case .addressees(let input): return tell(input, peers, heardSince, now)
        case .admitted(let peer, let terms):
            book.record(peer, terms, now: now)
            return []
        case .heard(let peer, let hops):
            book.heard(peer, hops: hops)
            return []
        case .deadlineReached:
            var outputs: [Output] = []
            if routing.nextDeadline ?? .distantFuture <= now {
                outputs += tell(RoutingMachine.Input.deadlineReached, peers, heardSince, now)
            }
            if addressees.nextDeadline ?? .distantFuture <= now {
                outputs += tell(AddresseeMachine.Input.deadlineReached, peers, heardSince, now)
            }
            return outputs + book.deadlineReached(now: now).map { diagnostic($0) }
        }
    }

    var costToCollector: UInt16? { addressees.costToCollector(routing) }

    // MARK: The parts and what they say

    @inline(never)
    private mutating func tell(
        _ input: RoutingMachine.Input, _ peers: Peers,
        _ heardSince: @escaping (PeerID) -> Instant?, _ now: Instant
    ) -> [Output] {
        routing.handle(input, now: now).flatMap { perform($0, peers, heardSince, now) }
    }

    @inline(never)
    private mutating func tell(
        _ input: AddresseeMachine.Input, _ peers: Peers,
        _ heardSince: @escaping (PeerID) -> Instant?, _ now: Instant
    ) -> [Output] {
        let seen = AddresseeMachine.View(
            routing: routing, peers: peers, heardSince: heardSince)
        return addressees.handle(input, seeing: seen, now: now).compactMap { perform($0, peers) }
    }

    private mutating func perform(
        _ output: RoutingMachine.Output, _ peers: Peers,
        _ heardSince: @escaping (PeerID) -> Instant?, _ now: Instant
    ) -> [Output] {
        switch output {
        case .send(let message, let peer): return [.send(message, to: peer)]
        case .drop(let reason): return [.drop(reason)]
        case .routeChanged(let peer, let hop, let metric, let kind):
            var outputs = book.routeChanged(peer, nextHop: hop, kind, now: now).map {
                diagnostic($0)
            }
            let hasChannel = peers[peer] != nil
            if hasChannel { outputs.append(.nextHop(peer, hop)) }
            // Of nearly all routes nothing follows: what addressees see is not copied for them.
            guard addressees.heed(peer, kind) else { return outputs }
            if !hasChannel, hop != nil {
                outputs += tell(.reachable(peer), peers, heardSince, now)
            }
            let input = AddresseeMachine.Input.routeChanged(
                peer, kind, metric: hop == nil ? nil : metric)
            return outputs + tell(input, peers, heardSince, now)
        }
    }

    private func perform(_ output: AddresseeMachine.Output, _ peers: Peers) -> Output? {
        switch output {
        case .dial(let peer): return .dial(peer)
        case .giveUp(let peer): return .giveUp(peer)
        case .collector(let peer): return .event(.collector(peer))
        case .viewers(let viewers): return .event(.viewers(viewers))
        case .routeToCollectorChanged: return .costToCollector(costToCollector)
        case .noCollector(let peer):
            return peers[peer].map {
                .event(.diagnostic(.noCollector(peer, name: $0.terms.name, role: $0.terms.role)))
            }
        case .drop(let reason): return .drop(reason)
        }
    }

    private func diagnostic(_ output: NodeBook.Output) -> Output {
        switch output {
        case .vanished(let gone):
            .event(.diagnostic(.nodesVanished(gone.compactMap { book[$0] })))
        case .returned(let peer):
            .event(.diagnostic(.nodesReturned([peer].compactMap { book[$0] })))
        }
    }
}

extension DestinationKind {
    init(_ role: Role) {
        switch role {
        case .agent, .relay: self = .node
        case .collector: self = .collector
        case .viewer: self = .viewer
        }
    }
}

extension Limits {
    /// A run's first seqno is drawn from 1 to this.
    static let firstSeqnoMax: UInt32 = 1 << 24
}
