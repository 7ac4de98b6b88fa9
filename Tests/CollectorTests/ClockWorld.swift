import NearbyCore
import Telemetry

@testable import Collector

/// A boot's CLOCK_BOOTTIME in a world whose own time is the truth.
struct SimulatedClock {
    /// The world's time.
    var booted: Duration
    /// Too fast by so many parts per million.
    var drift: Int64 = 0

    func read(_ truth: Duration) -> Instant {
        let age = (truth - booted).nanoseconds
        return Instant(nanoseconds: age + age / 1_000_000 * drift)
    }
}

/// One collector with a store of mappings, agents that answer its requests, and a network between
/// them that loses and delays.
struct ClockWorld {
    struct Agent {
        var clock: SimulatedClock
        var boot: BootID
        /// What it knows of UTC at this moment of its clock: nil means nothing.
        var rank = ClockRank.none
        /// How wrong that is.
        var error: Duration = .zero
    }

    private enum Event {
        case request(Instant, PeerID)
        case answer(TimeAnswer, PeerID)
        case ownClock
    }

    /// UTC at the world's time zero.
    static let epoch: Duration = .seconds(1_795_239_900)
    static let ownBoot = BootID(high: 9, low: 9)

    private(set) var truth: Duration = .zero
    var own: SimulatedClock
    var ownRank = ClockRank.none
    /// How wrong the collector's wall clock is.
    var ownError: Duration = .zero
    var agents: [PeerID: Agent] = [:]
    /// Of each way by itself.
    var delays: Range<Duration> = .milliseconds(1)..<(.milliseconds(60))
    /// Percent of each way.
    var loss = 20
    var exchange = ClockExchange()
    var book: ClockBook
    private(set) var stored: [BootID: [ClockMapping]] = [:]
    private(set) var mappings: [ClockMapping] = []
    private(set) var diagnostics: [ClockDiagnostic] = []
    private(set) var drops: [DropReason: Int] = [:]
    private var events: [(at: Duration, event: Event)] = []
    private var generator: SeededGenerator

    init(
        seed: UInt64, own: SimulatedClock = SimulatedClock(booted: .zero),
        sources: Set<PeerID> = []
    ) {
        book = ClockBook(boot: Self.ownBoot, sources: sources)
        generator = SeededGenerator(seed: seed)
        self.own = own
        events.append((.zero, .ownClock))
    }

    var now: Instant { own.read(truth) }

    static func utc(_ truth: Duration) -> Duration { epoch + truth }

    mutating func connect(_ peer: PeerID, _ agent: Agent) {
        agents[peer] = agent
        take(exchange.handle(.connected(peer), now: now))
    }

    mutating func disconnect(_ peer: PeerID) {
        agents[peer] = nil
        take(exchange.handle(.disconnected(peer), now: now))
    }

    /// As the program does when the clock was set.
    mutating func readOwnClock() {
        let utc = Self.utc(truth) + ownError
        let reading = ClockReading(rank: ownRank, unixOffset: utc - (now - .zero))
        give(.ownClock(reading))
    }

    mutating func run(for time: Duration) {
        let end = truth + time
        while true {
            let index = events.indices.min { events[$0].at < events[$1].at }
            let deadline = exchange.nextDeadline.map { self.truth(of: $0) } ?? .seconds(1 << 40)
            if let index, events[index].at <= min(deadline, end) {
                let (at, event) = events.remove(at: index)
                truth = max(truth, at)
                handle(event)
            } else if deadline <= end {
                truth = max(truth, deadline)
                take(exchange.handle(.deadlineReached, now: now))
            } else {
                truth = end
                return
            }
        }
    }

    /// UTC of a moment of a boot, as somebody reads it out of the store.
    func utc(_ boot: BootID, _ time: Instant) -> Duration? {
        let mapping = stored[boot]?.last { $0.since <= time } ?? stored[boot]?.first
        return mapping.map { (time - .zero) + $0.clock.unixOffset }
    }

    /// How wrong the store is about a moment of a boot.
    func error(_ boot: BootID, _ clock: SimulatedClock, at truth: Duration) -> Duration? {
        utc(boot, clock.read(truth)).map {
            ClockReference.distance($0, Self.utc(truth))
        }
    }

    mutating func give(_ input: ClockBook.Input) {
        for output in book.handle(input, now: now) {
            switch output {
            case .mapping(let mapping):
                mappings.append(mapping)
                stored[mapping.boot, default: []].removeAll { $0.since >= mapping.since }
                stored[mapping.boot, default: []].append(mapping)
            case .diagnostic(let diagnostic): diagnostics.append(diagnostic)
            case .drop(let reason, let count): drops[reason, default: 0] += count
            }
        }
    }

    // MARK: Parts

    private mutating func handle(_ event: Event) {
        switch event {
        case .ownClock:
            readOwnClock()
            events.append((truth + .seconds(60), .ownClock))
        case .request(let asked, let peer):
            guard let agent = agents[peer] else { return }
            let received = agent.clock.read(truth)
            let answered = received + generator.duration(in: .zero..<(.milliseconds(3)))
            let sinceBoot: Duration = received - Instant.zero
            let utc: Duration = Self.utc(truth) - sinceBoot + agent.error
            let clock = ClockReading(
                rank: agent.rank, unixOffset: agent.rank == ClockRank.none ? .zero : utc)
            let answer = TimeAnswer(
                asked: asked, received: received, answered: answered, boot: agent.boot,
                clock: clock)
            send(.answer(answer, peer), after: answered - received)
        case .answer(let answer, let peer):
            take(exchange.handle(.answered(answer, from: peer), now: now))
        }
    }

    private mutating func take(_ outputs: [ClockExchange.Output]) {
        for output in outputs {
            switch output {
            case .send(_, let peer): send(.request(now, peer), after: .zero)
            case .sample(let sample, let peer): give(.measured(sample, from: peer))
            case .drop(let reason, let count): drops[reason, default: 0] += count
            }
        }
    }

    private mutating func send(_ event: Event, after pause: Duration) {
        guard Int.random(in: 0..<100, using: &generator) >= loss else { return }
        events.append((truth + pause + generator.duration(in: delays), event))
    }

    /// When the collector's clock reads this; a nanosecond late rather than early.
    private func truth(of instant: Instant) -> Duration {
        var age = instant.nanoseconds - instant.nanoseconds / 1_000_000 * own.drift
        while own.read(own.booted + .nanoseconds(age)) < instant {
            age += max(1, (instant - own.read(own.booted + .nanoseconds(age))).nanoseconds)
        }
        return own.booted + .nanoseconds(age)
    }
}
