import NearbyCore
import Telemetry

extension Limits {
    /// Mappings that wait for the store to open; what comes beyond is told when it moves again.
    static let earlyMappingsMax = 16_384
}

/// What is known of the agents' clocks and of our own.
extension CollectorMachine {
    mutating func exchange(
        _ input: ClockExchange.Input, now: Instant, into outputs: inout [Output]
    ) {
        for step in exchange.handle(input, now: now) {
            switch step {
            case .send(let bytes, let peer): outputs.append(.sendUnreliable(bytes, to: peer))
            case .sample(let sample, let peer):
                note(.measured(sample, from: peer), now: now, into: &outputs)
            case .drop(let reason): outputs.append(.drop(reason, count: 1))
            }
        }
    }

    mutating func note(
        _ input: ClockBook.Input, now: Instant, into outputs: inout [Output]
    ) {
        for output in clocks.handle(input, now: now) {
            switch output {
            case .mapping(let mapping):
                if !isDurable { continue }
                if let early = earlyMappings?.count {
                    if early < Limits.earlyMappingsMax { earlyMappings?.append(mapping) }
                } else {
                    store(mapping, now: now, into: &outputs)
                }
            case .notice(let notice): outputs.append(.notice(.clock(notice)))
            case .drop(let reason): outputs.append(.drop(reason, count: 1))
            }
        }
    }

    /// Puts the readings on our clock, as well as we know the agent's.
    mutating func date(_ delivery: inout Delivery, into outputs: inout [Output]) {
        let boot = clocks.boot(delivery.birth.boot, of: delivery.peer)
        if let newest = delivery.readings.map(\.time).max() {
            let input = ClockBook.Input.arrived(
                boot: boot, newest: newest, arrival: delivery.arrival, from: delivery.peer)
            note(input, now: delivery.arrival, into: &outputs)
        }
        delivery.offset = clocks.offset(of: boot) ?? .zero
        delivery.rank = clocks.rank(of: boot)
    }

    /// The latest stretch of each boot, in the order in which the store heard of the boots. What
    /// was told meanwhile of boots that the store knows is left out: it is not known to come from
    /// the agent whose boot it is.
    mutating func restore(
        _ mappings: [ClockMapping], of runs: [StoredRun], now: Instant,
        into outputs: inout [Output]
    ) {
        var latest: [BootID: ClockMapping] = [:]
        for mapping in mappings where latest[mapping.boot]?.since ?? mapping.since <= mapping.since
        {
            latest[mapping.boot] = mapping
        }
        for run in runs {
            guard let mapping = latest.removeValue(forKey: run.birth.boot) else { continue }
            note(.stored(mapping, from: run.key.peer), now: now, into: &outputs)
        }
        let stored = Set(mappings.map(\.boot))
        for mapping in earlyMappings ?? []
        where mapping.boot == clocks.ownBoot || !stored.contains(mapping.boot) {
            store(mapping, now: now, into: &outputs)
        }
        earlyMappings = nil
    }

    private mutating func store(
        _ mapping: ClockMapping, now: Instant, into outputs: inout [Output]
    ) {
        let dropped = ledger.add(mapping, now: now)
        if dropped > 0 { outputs.append(.drop(.storeBehind, count: dropped)) }
    }
}
