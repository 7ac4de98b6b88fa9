import NearbyCore
import Telemetry

extension Limits {
    /// Mappings that wait for the store to open; what comes beyond is told when it moves again.
    static let earlyMappingsMax = 16_384
}

/// What is known of the agents' clocks and of our own.
extension CollectorMachine {
    mutating func exchange(_ input: ClockExchange.Input, now: Instant) -> [Output] {
        var outputs: [Output] = []
        for step in exchange.handle(input, now: now) {
            switch step {
            case .send(let bytes, let peer): outputs.append(.sendUnreliable(bytes, to: peer))
            case .sample(let sample, let peer):
                outputs += record(.measured(sample, from: peer), now: now)
            case .drop(let reason, let count): outputs.append(.drop(reason, count: count))
            }
        }
        return outputs
    }

    mutating func record(_ input: ClockBook.Input, now: Instant) -> [Output] {
        var outputs: [Output] = []
        for output in clocks.handle(input, now: now) {
            switch output {
            case .mapping(let mapping):
                if !isDurable { continue }
                if let early = earlyMappings?.count {
                    if early < Limits.earlyMappingsMax { earlyMappings?.append(mapping) }
                } else {
                    outputs += store(mapping, now: now)
                }
            case .diagnostic(let diagnostic): outputs.append(.diagnostic(.clock(diagnostic)))
            case .drop(let reason, let count): outputs.append(.drop(reason, count: count))
            }
        }
        return outputs
    }

    /// Puts the readings on our clock, as well as we know the agent's.
    mutating func date(_ delivery: inout Delivery) -> [Output] {
        var outputs: [Output] = []
        let boot = clocks.boot(delivery.birth.boot, of: delivery.peer)
        if let newest = delivery.readings.lazy.map({ $0.time }).max() {
            let input = ClockBook.Input.arrived(
                boot: boot, newest: newest, arrival: delivery.arrival, from: delivery.peer)
            outputs = record(input, now: delivery.arrival)
        }
        delivery.offset = clocks.offset(of: boot) ?? .zero
        delivery.rank = clocks.rank(of: boot)
        return outputs
    }

    /// The latest stretch of each boot, in the order in which the store heard of the boots. What
    /// was told meanwhile of boots that the store knows is left out: it is not known to come from
    /// the agent whose boot it is.
    mutating func restore(
        _ mappings: [ClockMapping], of runs: [StoredRun], now: Instant
    ) -> [Output] {
        var outputs: [Output] = []
        var latest: [BootID: ClockMapping] = [:]
        for mapping in mappings where latest[mapping.boot]?.since ?? mapping.since <= mapping.since
        {
            latest[mapping.boot] = mapping
        }
        let early = earlyMappings ?? []
        earlyMappings = nil
        var stored: Set<BootID> = []
        for run in runs where stored.insert(run.birth.boot).inserted {
            let (boot, peer) = (run.birth.boot, run.key.peer)
            let input = latest[boot].map { ClockBook.Input.stored($0, from: peer) }
            outputs += record(input ?? .storedUndated(boot, from: peer), now: now)
        }
        for mapping in early
        where mapping.boot == clocks.ownBoot
            || latest[mapping.boot] == nil && !stored.contains(mapping.boot)
        {
            outputs += store(mapping, now: now)
        }
        return outputs
    }

    private mutating func store(_ mapping: ClockMapping, now: Instant) -> [Output] {
        let dropped = ledger.add(mapping, now: now)
        return dropped > 0 ? [.drop(.storeBehind, count: dropped)] : []
    }
}
