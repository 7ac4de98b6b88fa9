import NearbyCore
import NearbyWire

/// The hop to one neighbour: over which of several links it is addressed, whether it answers there,
/// and what that costs.
struct HopMachine: Sendable {
    enum Input {
        /// A datagram of the neighbour came from there.
        case heard(LinkPath)
        /// A frame of it, which came from there.
        case frameReceived(isData: Bool, from: LinkPath)
        case received(LivenessFrame, from: LinkPath)
        case frameSent(isData: Bool)
        /// It answered a challenge there.
        case answered(LinkPath)
        /// It is proved that nothing listens where it is addressed.
        case unreachable
        /// Its new channel was opened there.
        case opened(LinkPath)
        /// Where discovery says that it may be, best first.
        case candidates([LinkPath])
        case linkDown(LinkID)
        case deadlineReached
    }

    enum Output: Equatable {
        /// A payload at control priority, with what else waits for the neighbour.
        case send([UInt8])
        /// An answer to a probe, over the link that it came from.
        case answerProbe(at: Endpoint)
        /// Find out whether it answers there.
        case challenge(at: Endpoint)
        /// It is addressed there from now on.
        case moved(LinkPath)
        /// What the hop costs now; infinite: route around it.
        case costChanged(UInt16)
        case lost
    }

    private var links: LinkChoice
    /// Of the link in use.
    private var liveness: LivenessMachine
    private var random: SeededGenerator
    /// Kept, since it is asked for after each datagram: to compute it there would copy the machine.
    private(set) var nextDeadline: Instant?

    /// - Parameters:
    ///   - path: where it answered just now.
    ///   - decides: of the two sides, the one with the lower PeerID.
    ///   - isDoubted: the neighbour is new, and we have a way to a collector.
    init(
        path: LinkPath, decides: Bool, isDoubted: Bool = false, seed: UInt64, now: Instant
    ) {
        random = SeededGenerator(seed: seed)
        links = LinkChoice(path: path, decides: decides, now: now)
        liveness = LivenessMachine(
            linkClass: path.linkClass, isDoubted: isDoubted, seed: random.next(), now: now)
        nextDeadline = earliest
    }

    var endpoint: Endpoint { links.used.endpoint }

    var linkClass: LinkClass { links.used.linkClass }

    var cost: UInt16 { liveness.cost }

    var lossPercent: Int { liveness.lossPercent }

    /// Links that would carry its channel, that in use among them.
    var validatedCount: Int { links.validatedCount }
    var validated: [Endpoint] { links.validated }

    func wasJustHeard(now: Instant) -> Bool { liveness.wasJustHeard(now: now) }

    mutating func handle(_ input: Input, now: Instant) -> [Output] {
        let outputs = apply(input, now)
        nextDeadline = earliest
        return outputs
    }

    private mutating func apply(_ input: Input, _ now: Instant) -> [Output] {
        switch input {
        case .heard(let path): return choose(.heard(path), now)
        case .frameReceived(let isData, let path):
            let chosen = choose(.heard(path), now)
            let outputs = live(.frameReceived(isData: isData), now)
            return chosen.isEmpty ? outputs : chosen + outputs
        case .frameSent(let isData): return live(.frameSent(isData: isData), now)
        case .received(let frame, let path):
            // Over another link it is a second answer to one probe, and not a late one.
            if frame == .answer, path.endpoint != endpoint {
                return live(.frameReceived(isData: false), now)
            }
            let answer = frame == .probe ? probed(from: path, now) : []
            return answer + live(.received(frame), now)
        case .answered(let path): return choose(.answered(path), now)
        case .unreachable: return live(.unreachable, now)
        case .opened(let path): return choose(.opened(path), now)
        case .candidates(let paths): return choose(.candidates(paths), now)
        case .linkDown(let link): return choose(.linkDown(link), now)
        case .deadlineReached:
            let asked = isDue(links.nextDeadline, now) ? choose(.deadlineReached, now) : []
            guard isDue(liveness.nextDeadline, now) else { return asked }
            return asked + live(.deadlineReached, now)
        }
    }

    @inline(__always)
    private var earliest: Instant? {
        let earliest = min(
            liveness.nextDeadline ?? .distantFuture, links.nextDeadline ?? .distantFuture)
        return earliest == .distantFuture ? nil : earliest
    }

    private func isDue(_ deadline: Instant?, _ now: Instant) -> Bool {
        deadline ?? .distantFuture <= now
    }

    /// It asks over a link that we do not use: the answer takes the same path back.
    private mutating func probed(from path: LinkPath, _ now: Instant) -> [Output] {
        guard endpoint != path.endpoint else { return [] }
        let outputs = choose(.probed(path), now)
        return endpoint == path.endpoint ? outputs : outputs + [.answerProbe(at: path.endpoint)]
    }

    private mutating func choose(_ input: LinkChoice.Input, _ now: Instant) -> [Output] {
        let steps = links.handle(input, now: now)
        guard !steps.isEmpty else { return [] }
        return steps.flatMap { step in
            switch step {
            case .challenge(let endpoint): return [Output.challenge(at: endpoint)]
            case .use(let path):
                liveness = LivenessMachine(
                    linkClass: path.linkClass, seed: random.next(), now: now)
                return [.moved(path), .costChanged(liveness.cost)]
            case .lost: return [.lost]
            }
        }
    }

    private mutating func live(_ input: LivenessMachine.Input, _ now: Instant) -> [Output] {
        let steps = liveness.handle(input, now: now)
        guard !steps.isEmpty else { return [] }
        return steps.flatMap { step in
            switch step {
            case .send(let payload): return [Output.send(payload)]
            case .costChanged(let cost):
                return choose(.recovered, now) + [.costChanged(cost)]
            case .suspected: return suspected(now)
            case .lost: return [.lost]
            }
        }
    }

    /// Another link takes over if one is ready; otherwise it is routed around.
    private mutating func suspected(_ now: Instant) -> [Output] {
        let before = endpoint
        let outputs = choose(.suspected, now)
        guard endpoint == before else { return outputs }
        return outputs + [.costChanged(RoutingMessage.metricInfinite)]
    }
}
