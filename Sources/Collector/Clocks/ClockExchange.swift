import NearbyCore
import Telemetry

extension Limits {
    /// Requests with which a boot that is new to us is met, and the time between them.
    static let clockBurstCount = 4
    static let clockBurstInterval: Duration = .seconds(1)
    /// Time between requests afterwards.
    static let clockInterval: Duration = .seconds(64)
    /// A longer round trip cannot be; after this time a request is given up.
    static let clockDelayMax: Duration = .seconds(60)
    /// Requests of one agent that wait for their answers; the oldest is given up.
    static let clockRequestsMax = 4
}

/// Asks the connected agents for their time and makes samples of the answers.
///
/// Each is asked four times, a second apart, when its boot is new to us, and then every 64 s at a
/// moment of its own, so that a thousand agents are not asked at once. An answer counts once, and
/// only if it was asked for: late, repeated and invented ones are counted and dropped.
struct ClockExchange: Sendable {
    enum Input: Equatable, Sendable {
        /// An agent can be asked. Repeated, it changes nothing.
        case connected(PeerID)
        case disconnected(PeerID)
        case answered(TimeAnswer, from: PeerID)
        case deadlineReached
    }

    enum Output: Equatable, Sendable {
        /// To be sent unreliably, and without delay.
        case send([UInt8], to: PeerID)
        /// The best of the latest samples, after each answer.
        case sample(ClockSample, PeerID)
        case drop(DropReason, count: Int = 1)
    }

    private struct AskedAgent: Sendable {
        var filter: ClockFilter?
        /// When the waiting requests were made, oldest first.
        var asked: [Instant] = []
        var burstLeft = Limits.clockBurstCount
        var nextAsk: Instant
    }

    /// At most `Limits.collectorPeersMax`; more are not asked.
    private var agents: [PeerID: AskedAgent] = [:]
    private(set) var nextDeadline: Instant?

    init() {}

    /// Agents that are asked.
    var agentCount: Int { agents.count }

    mutating func handle(_ input: Input, now: Instant) -> [Output] {
        defer { nextDeadline = agents.values.lazy.map(\.nextAsk).min() }
        switch input {
        case .connected(let peer):
            guard agents[peer] == nil else { return [] }
            guard agents.count < Limits.collectorPeersMax else {
                return [.drop(.readingTableFull)]
            }
            agents[peer] = AskedAgent(nextAsk: now)
            return requestDue(now: now)
        case .disconnected(let peer):
            agents[peer] = nil
            return []
        case .answered(let answer, let peer): return receive(answer, from: peer, now: now)
        case .deadlineReached: return requestDue(now: now)
        }
    }

    private mutating func requestDue(now: Instant) -> [Output] {
        var outputs: [Output] = []
        let due = agents.filter { $0.value.nextAsk <= now }.map(\.key).sorted()
        for peer in due {
            guard var agent = agents[peer] else { continue }
            agent.asked.removeAll { now - $0 > Limits.clockDelayMax }
            if agent.asked.count >= Limits.clockRequestsMax { agent.asked.removeFirst() }
            agent.asked.append(now)
            agent.burstLeft = max(0, agent.burstLeft - 1)
            agent.nextAsk =
                agent.burstLeft > 0
                ? now + Limits.clockBurstInterval : Self.nextTurn(of: peer, after: now)
            agents[peer] = agent
            outputs.append(
                .send(TelemetryMessage.timeExchange(.request(asked: now)).bytes, to: peer))
        }
        return outputs
    }

    private mutating func receive(
        _ answer: TimeAnswer, from peer: PeerID, now: Instant
    ) -> [Output] {
        guard var agent = agents[peer],
            let index = agent.asked.firstIndex(of: answer.asked)
        else { return [.drop(.timeAnswerUnsolicited)] }
        agent.asked.remove(at: index)
        agents[peer] = agent
        guard let sample = ClockSample(answer, now: now) else {
            return [.drop(.timeAnswerImplausible)]
        }
        var filter = ClockFilter(boot: answer.boot)
        if let known = agent.filter {
            if known.boot == answer.boot {
                filter = known
            } else {
                // It restarted behind a connection that lasted.
                agent.burstLeft = Limits.clockBurstCount
                agent.nextAsk = min(agent.nextAsk, now + Limits.clockBurstInterval)
            }
        }
        filter.add(sample)
        agent.filter = filter
        agents[peer] = agent
        return filter.best(now: now).map { [.sample($0, peer)] } ?? []
    }

    /// The next moment at which our clock, divided by the interval, leaves the agent's own rest.
    private static func nextTurn(of peer: PeerID, after now: Instant) -> Instant {
        let interval = Limits.clockInterval.nanoseconds
        let phase = Int64(peer.low % UInt64(interval))
        let since = ((now.nanoseconds % interval) - phase + interval) % interval
        return now + .nanoseconds(interval - since)
    }
}
