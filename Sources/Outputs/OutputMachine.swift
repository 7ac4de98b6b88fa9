import Fleet
import NearbyCore

extension Limits {
    /// Batches that are delivered while the store has not kept the cursor behind them: so many
    /// come again after a crash.
    static let outputBatchesUnkept = 20
}

/// When an output fetches, delivers and waits, and what is told of it. One of these for each
/// output, on the output's thread; at any time one thing at most is under way.
///
///     starting ─▶ working ⇄ resting        a batch delivered: the cursor moves on
///                    │ fault    ▲
///                    ▼          │ fetch, deliver, idle succeed
///                 failing (1 s … 60 s) ───┘
///
/// After a fault the batch is fetched anew, since what it says may have changed meanwhile.
public struct OutputMachine: Sendable {
    public enum Input: Equatable, Sendable {
        case start
        /// The store has committed something.
        case news
        /// What the store has for the output; nothing to deliver if `readingCount` and
        /// `redatingCount` are 0.
        case fetched(Fetched)
        /// The store could not be read.
        case notFetched(String)
        case delivered(OutputReceipt, readingCount: Int)
        case idled
        case failed(OutputFault)
        /// The store keeps the cursor behind all batches up to this one.
        case kept(batch: UInt64)
        case deadlineReached
        case stop
    }

    public struct Fetched: Equatable, Sendable {
        public var readingCount = 0
        public var redatingCount = 0
        public var isMore = false
        /// Whether the cursor moves, though there may be nothing to deliver.
        public var hasMoved = false
        /// Before this batch.
        public var waitingCount: UInt64 = 0
        /// For how long the output has been behind; nil if nothing waits.
        public var lag: Duration?

        public init() {}

        var isEmpty: Bool { readingCount == 0 && redatingCount == 0 }
    }

    public enum Output: Equatable, Sendable {
        case fetch
        /// What was fetched.
        case deliver
        case idle
        /// The cursor is behind what was fetched; it is the batch of this number.
        case advance(batch: UInt64)
        case tell(Diagnostic)
        /// Nothing is asked for afterwards.
        case close
    }

    /// For the log.
    public enum Diagnostic: Hashable, Sendable {
        case fault(String)
        case works(after: Duration)
        case refused(Int, String)
        case remark(String)
    }

    private enum Phase: Sendable, Equatable {
        case unstarted
        /// Something is under way.
        case fetching, delivering(Int), idling
        case resting(until: Instant)
        /// The store has to keep the cursor first.
        case unkept(until: Instant)
        case failing(until: Instant)
        case stopped
    }

    /// How the other side does.
    private enum Health: Sendable, Equatable {
        /// Nobody knows so far.
        case untried
        case working
        /// For so many attempts in a row; whether anything was told of it.
        case failing(since: Instant, count: Int, wasTold: Bool)
    }

    /// What an output that fails waits for, at first and at most.
    static let firstDelay: Duration = .seconds(1)
    static let lastDelay: Duration = .seconds(60)
    /// The same text is not told again within this time, and not more than `toldMax` others: some
    /// servers put a time or a number into all that they say.
    static let silence: Duration = .seconds(600)
    static let restInterval: Duration = .seconds(1)
    /// Behind is whoever has older readings to deliver.
    static let behindLag: Duration = .seconds(10)
    static let toldMax = 8

    private var phase = Phase.unstarted
    private var generator: SeededGenerator
    private var hasNews = false
    private var fetched = Fetched()
    private var isStopping = false
    private var batch: UInt64 = 0
    private var keptBatch: UInt64 = 0
    private var health = Health.untried
    private var lastFault: String?
    private var told: [(text: String, time: Instant)] = []

    /// - Parameter seed: for the jitter of repeated attempts.
    public init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    public var nextDeadline: Instant? {
        switch phase {
        case .resting(let time), .unkept(let time), .failing(let time): time
        case .unstarted, .fetching, .delivering, .idling, .stopped: nil
        }
    }

    /// Whether it goes on only when the store has kept the cursor.
    public var waitsForStore: Bool {
        if case .unkept = phase { true } else { false }
    }

    public var state: OutputStatus.Phase {
        switch (phase, health) {
        case (.stopped, _): .stopped
        case (_, .failing): .failing
        case (_, .untried): .starting
        case (_, .working): isBehind ? .behind : .current
        }
    }

    private var isBehind: Bool { fetched.lag.map { $0 > Self.behindLag } ?? false }

    private var failingSince: Instant? {
        if case .failing(let since, _, _) = health { since } else { nil }
    }

    /// The fault that holds now, and since when; else the last one.
    public var fault: (text: String, since: Instant?)? { lastFault.map { ($0, failingSince) } }

    public mutating func handle(_ input: Input, now: Instant) -> [Output] {
        switch input {
        case .start: return phase == .unstarted ? fetch() : []
        case .news: return receiveNews()
        case .fetched(let fetched): return receive(fetched, now)
        case .notFetched(let text): return fail(text, now)
        case .delivered(let receipt, let count): return deliver(receipt, count, now)
        case .idled: return idled(now)
        case .failed(let fault): return fail(fault.description, now)
        case .kept(let batch): return keep(batch)
        case .deadlineReached: return deadlineReached(now)
        case .stop: return stop()
        }
    }

    // MARK: Inputs

    private mutating func receiveNews() -> [Output] {
        hasNews = true
        guard case .resting = phase else { return [] }
        return fetch()
    }

    private mutating func receive(_ fetched: Fetched, _ now: Instant) -> [Output] {
        guard phase == .fetching else { return [] }
        if isStopping { return close() }
        self.fetched = fetched
        if !fetched.isEmpty {
            phase = .delivering(fetched.readingCount)
            return [.deliver]
        }
        let next = fetched.isMore ? goOn(now) : rest()
        guard fetched.hasMoved else { return next }
        batch += 1
        return [.advance(batch: batch)] + next
    }

    private mutating func deliver(
        _ receipt: OutputReceipt, _ count: Int, _ now: Instant
    ) -> [Output] {
        guard case .delivering = phase else { return [] }
        batch += 1
        var outputs = [Output.advance(batch: batch)]
        outputs += recover(now)
        if receipt.refusedCount > 0 {
            let reason = receipt.refusal ?? "no reason given"
            if mayTell(reason, now) {
                outputs.append(.tell(.refused(receipt.refusedCount, reason)))
            }
        }
        for remark in receipt.remarks where mayTell(remark, now) {
            outputs.append(.tell(.remark(remark)))
        }
        if isStopping { return outputs + close() }
        phase = .idling
        return outputs + [.idle]
    }

    private mutating func idled(_ now: Instant) -> [Output] {
        guard phase == .idling else { return [] }
        let outputs = recover(now)
        if isStopping { return outputs + close() }
        if fetched.isMore || hasNews || !fetched.isEmpty { return outputs + goOn(now) }
        phase = .resting(until: now + Self.restInterval)
        return outputs
    }

    private mutating func keep(_ batch: UInt64) -> [Output] {
        keptBatch = max(keptBatch, min(batch, self.batch))
        guard case .unkept = phase, hasRoom else { return [] }
        return fetch()
    }

    private mutating func deadlineReached(_ now: Instant) -> [Output] {
        guard let deadline = nextDeadline, deadline <= now else { return [] }
        if case .unkept = phase, !hasRoom {
            phase = .unkept(until: now + Self.restInterval)
            return []
        }
        return fetch()
    }

    private mutating func stop() -> [Output] {
        isStopping = true
        switch phase {
        case .fetching, .delivering, .idling, .stopped: return []
        case .unstarted, .resting, .unkept, .failing: return close()
        }
    }

    // MARK: What follows

    private var hasRoom: Bool { batch - keptBatch < UInt64(Limits.outputBatchesUnkept) }

    private mutating func fetch() -> [Output] {
        hasNews = false
        phase = .fetching
        return [.fetch]
    }

    private mutating func goOn(_ now: Instant) -> [Output] {
        if hasRoom { return fetch() }
        phase = .unkept(until: now + Self.restInterval)
        return []
    }

    /// Nothing waits: the other side is asked whether it is still there.
    private mutating func rest() -> [Output] {
        phase = .idling
        return [.idle]
    }

    private mutating func close() -> [Output] {
        phase = .stopped
        return [.close]
    }

    private mutating func recover(_ now: Instant) -> [Output] {
        defer { health = .working }
        guard case .failing(let since, _, true) = health else { return [] }
        return [.tell(.works(after: now - since))]
    }

    private mutating func fail(_ text: String, _ now: Instant) -> [Output] {
        guard [.fetching, .idling].contains(phase) || isDelivering else { return [] }
        var (since, count, wasTold) = (now, 0, false)
        if case .failing(let first, let before, let isTold) = health {
            (since, count, wasTold) = (first, before, isTold)
        }
        let isKnown = count > 0 && text == lastFault
        lastFault = text
        var outputs: [Output] = []
        if !isKnown, mayTell(text, now) {
            wasTold = true
            outputs.append(.tell(.fault(text)))
        }
        health = .failing(since: since, count: count + 1, wasTold: wasTold)
        if isStopping { return outputs + close() }
        phase = .failing(until: now + delay(after: count))
        return outputs
    }

    private var isDelivering: Bool {
        if case .delivering = phase { true } else { false }
    }

    /// Doubles from time to time, and is up to a fifth shorter, so that many do not come at once.
    private mutating func delay(after failureCount: Int) -> Duration {
        let doubled = Self.firstDelay * (1 << min(failureCount, 6))
        let whole = min(doubled, Self.lastDelay).nanoseconds
        return .nanoseconds(Int64.random(in: whole * 4 / 5...whole, using: &generator))
    }

    /// Whether a text was not told within the last minutes, and few others were.
    private mutating func mayTell(_ text: String, _ now: Instant) -> Bool {
        told.removeAll { now - $0.time >= Self.silence }
        if told.contains(where: { $0.text == text }) || told.count >= Self.toldMax { return false }
        told.append((text, now))
        return true
    }
}
