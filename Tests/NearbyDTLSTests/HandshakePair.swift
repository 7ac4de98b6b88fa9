import CVirtualClock
import NearbyCore
import NearbyEngine

@testable import NearbyDTLS

/// What the network between the two does to datagrams, each way.
struct NetworkFaults {
    var loss = 0.0
    var duplication = 0.0
    /// Delay is drawn from this range: wide means reordered.
    var delay = Duration.milliseconds(5)..<Duration.milliseconds(20)
    /// Chance of one more datagram made by `forge` beside each real one.
    var forgery = 0.0
}

/// A client and a listening server through the real OpenSSL on a virtual clock that OpenSSL reads
/// too.
///
/// The client begins anew after a failed attempt as rule 7 of the tie-break says (1 s doubling, no
/// jitter).
final class HandshakePair {
    struct Outcome {
        var time: Duration?
        var attempts = 0
        var datagrams = 0
        var largestDatagram = 0
        var client: HandshakeResult?
        var server: HandshakeResult?
        var drops = DropCounters()
    }

    private struct Event {
        let time: Instant
        let order: Int
        let toServer: Bool
        let attempt: Int
        let bytes: [UInt8]
    }

    private let clientSide: OpenSSLCryptography
    private let serverSide: OpenSSLCryptography
    private let faults: NetworkFaults
    private let forge: (inout SeededGenerator, [UInt8]) -> [UInt8]
    private var generator: SeededGenerator
    private var now = Instant.zero
    private var events: [Event] = []
    private var order = 0
    private var client: (any SecureChannel)?
    private var servers: [Int: any SecureChannel] = [:]
    private var nextAttempt: Instant?
    private var outcome = Outcome()

    init(
        client: OpenSSLCryptography, server: OpenSSLCryptography, faults: NetworkFaults,
        seed: UInt64,
        forge: @escaping (inout SeededGenerator, [UInt8]) -> [UInt8] = { _, bytes in bytes }
    ) {
        clientSide = client
        serverSide = server
        self.faults = faults
        self.forge = forge
        generator = SeededGenerator(seed: seed)
    }

    /// Runs until both sides of one attempt are done or `limit` is over.
    func run(limit: Duration = .seconds(120)) -> Outcome {
        defer { virtual_clock_set(0) }
        setTime(.zero)
        begin()
        while outcome.time == nil, let next = nextTime(), next <= .zero + limit {
            setTime(next)
            deliver()
            client?.deadlineReached(now: now)
            for attempt in servers.keys.sorted() { servers[attempt]?.deadlineReached(now: now) }
            if let due = nextAttempt, now >= due { begin() }
            collect()
        }
        return outcome
    }

    private func begin() {
        nextAttempt = nil
        outcome.attempts += 1
        client = clientSide.makeClient(now: now)
        collect()
    }

    private func nextTime() -> Instant? {
        var times = servers.values.compactMap(\.nextDeadline) + events.map(\.time)
        if let deadline = client?.nextDeadline { times.append(deadline) }
        if let due = nextAttempt { times.append(due) }
        return times.min()
    }

    private func deliver() {
        let due = events.filter { $0.time <= now }.sorted {
            ($0.time, $0.order) < ($1.time, $1.order)
        }
        events.removeAll { $0.time <= now }
        for event in due { event.toServer ? toServer(event) : toClient(event) }
    }

    private func toServer(_ event: Event) {
        if let server = servers[event.attempt] { return server.receive(event.bytes[...], now: now) }
        let source = TransportAddress.simulated(UInt64(event.attempt)).bytes
        switch serverSide.listen(event.bytes[...], from: source, now: now) {
        case .reply(let bytes): transmit(bytes, toServer: false, attempt: event.attempt)
        case .accepted(let server): servers[event.attempt] = server
        case .dropped(let reason): outcome.drops.count(reason)
        }
    }

    private func toClient(_ event: Event) {
        if event.attempt == outcome.attempts { client?.receive(event.bytes[...], now: now) }
    }

    private func collect() {
        if let client {
            for bytes in client.takeOutgoing() {
                transmit(bytes, toServer: true, attempt: outcome.attempts)
            }
            outcome.drops.add(client.takeDrops())
        }
        for attempt in servers.keys.sorted() {
            guard let server = servers[attempt] else { continue }
            for bytes in server.takeOutgoing() {
                transmit(bytes, toServer: false, attempt: attempt)
            }
            outcome.drops.add(server.takeDrops())
            if case .failed = server.state { servers[attempt] = nil }
        }
        if case .failed? = client?.state {
            client = nil
            let backoff = Duration.seconds(min(60, 1 << min(6, outcome.attempts - 1)))
            nextAttempt = now + backoff
        }
        noteSuccess()
    }

    private func noteSuccess() {
        guard case .finished(let client)? = client?.state,
            case .finished(let server)? = servers[outcome.attempts]?.state
        else { return }
        outcome.client = client
        outcome.server = server
        outcome.time = now - .zero
    }

    private func transmit(_ bytes: [UInt8], toServer: Bool, attempt: Int) {
        outcome.datagrams += 1
        outcome.largestDatagram = max(outcome.largestDatagram, bytes.count)
        if chance(faults.forgery) {
            schedule(forge(&generator, bytes), toServer: toServer, attempt: attempt)
        }
        if chance(faults.loss) { return }
        schedule(bytes, toServer: toServer, attempt: attempt)
        if chance(faults.duplication) { schedule(bytes, toServer: toServer, attempt: attempt) }
    }

    private func schedule(_ bytes: [UInt8], toServer: Bool, attempt: Int) {
        let time = now + generator.duration(in: faults.delay)
        let event = Event(
            time: time, order: order, toServer: toServer, attempt: attempt, bytes: bytes)
        events.append(event)
        order += 1
    }

    private func chance(_ probability: Double) -> Bool {
        probability > 0 && Double.random(in: 0..<1, using: &generator) < probability
    }

    private func setTime(_ time: Instant) {
        now = time
        virtual_clock_set(1_700_000_000_000_000 + time.nanoseconds / 1_000)
    }
}

/// The value below which `fraction` of the sorted durations lie.
func quantile(_ fraction: Double, of sorted: [Duration]) -> Duration {
    sorted[min(sorted.count - 1, Int(fraction * Double(sorted.count)))]
}
