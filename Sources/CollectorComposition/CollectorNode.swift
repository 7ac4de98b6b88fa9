import Collector
import NearbyCore
import NearbyEngine
import Telemetry

/// A whole collector, or viewer, without its sockets, store and screen: node, collector machine and
/// windows composed.
///
/// A message goes one way through it. `Node` opens it; `CollectorMachine` understands it, and hands
/// readings to the store, a receipt to the node, and what is new to `WindowAggregator`.
///
/// Its one queue is the node's. An input is taken by the part that it is for, and what that part
/// wants by the next, at once. After each message, and in the end, the node is flushed: its
/// transmissions leave, its events go to the machine, whose messages go into the node; and again,
/// until the node has nothing more.
///
/// A class, as `Agent` is.
public final class CollectorNode {
    public private(set) var node: Node
    public private(set) var machine: CollectorMachine
    /// Why the store takes nothing; nil: it does.
    public private(set) var storeFault: String?
    public private(set) var drops = DropCounters()
    public private(set) var readingCount = 0
    /// Add this to our clock to have the times by which windows are shown.
    public private(set) var shownOffset: Duration
    private var windows: WindowAggregator
    private let isDurable: Bool
    private var ownClock = ClockReading(rank: .none, unixOffset: .zero)
    /// Nothing is taken any more.
    private var isFinishing = false
    /// The node's outputs are being taken.
    private var isSettling = false
    private var outputs: [Output] = []
    /// How many the last input gave: reserved, so that the array is not moved as it grows.
    private var outputCount = 0

    public init(node: Node, settings: Settings) {
        self.node = node
        isDurable = settings.isDurable
        machine = CollectorMachine(
            isDurable: settings.isDurable, boot: settings.boot, quotas: settings.quotas,
            clockSources: settings.clockSources)
        windows = WindowAggregator(settings: settings.windows, seed: settings.seed)
        shownOffset = settings.windows.phase
    }

    public var nextDeadline: Instant? {
        let earliest = min(
            node.nextDeadline ?? .distantFuture, machine.nextDeadline ?? .distantFuture,
            windows.nextDeadline ?? .distantFuture)
        return earliest == .distantFuture ? nil : earliest
    }

    /// Whether nothing waits for the store any more, or it takes nothing.
    public var isSettled: Bool { !isDurable || !machine.isCommitting || storeFault != nil }

    public func handle(_ input: Input, now: Instant) -> [Output] {
        outputs.reserveCapacity(outputCount)
        switch input {
        case .start: if isDurable { outputs.append(.store(.open)) }
        case .network(let inputs): for input in inputs { node.handle(input, now: now) }
        case .clock(let reading):
            ownClock = reading
            if isDurable { outputs.append(.store(.tidy(clock: reading))) }
            tell(.ownClock(reading), now)
            node.handle(.clock(unixOffset: reading.vouchedOffset), now: now)
            follow(machine.unixOffset)
        case .store(let answer):
            storeAnswered(answer, now)
            if isFinishing { tell(.flush, now) }
        case .finish:
            sum(.finish, now)
            isFinishing = true
            if isDurable, storeFault == nil { tell(.flush, now) }
        case .deadlineReached: deadlineReached(now)
        }
        settle(now)
        defer {
            outputCount = outputs.count
            outputs = []
        }
        return outputs
    }

    private func deadlineReached(_ now: Instant) {
        if machine.nextDeadline ?? .distantFuture <= now { tell(.deadlineReached, now) }
        if windows.nextDeadline ?? .distantFuture <= now { sum(.deadlineReached, now) }
        if node.nextDeadline ?? .distantFuture <= now { node.handle(.deadlineReached, now: now) }
    }

    /// Windows begin at whole multiples of their width by the clock's first reading. A later one
    /// that differs by microseconds would show them a millisecond early.
    private func follow(_ offset: Duration?) {
        guard let offset else { return }
        let difference = max(offset - shownOffset, shownOffset - offset)
        if difference >= Self.shownDifference { shownOffset = offset }
    }

    private static let shownDifference: Duration = .milliseconds(100)

    // MARK: The node

    private func settle(_ now: Instant) {
        guard !isSettling else { return }
        isSettling = true
        defer { isSettling = false }
        var pending = node.flush(now: now)
        while !pending.isEmpty {
            for output in pending {
                if case .event(let event) = output { interpret(event, now) }
                outputs.append(.node(output))
            }
            pending = node.flush(now: now)
        }
    }

    private func interpret(_ event: Node.Event, _ now: Instant) {
        switch event {
        case .message where isFinishing: break
        case .message(let bytes, let peer, _, let hops):
            tell(.received(bytes, from: peer, hops: UInt8(clamping: hops)), now)
        case .peer(let peer, .connected): tell(.connected(peer), now)
        case .peer(let peer, .notConnected): tell(.disconnected(peer), now)
        case .peer, .collector, .viewers, .application, .diagnostic, .echo: break
        }
    }

    // MARK: The collector

    private func tell(_ input: CollectorMachine.Input, _ now: Instant) {
        for output in machine.handle(input, now: now) {
            switch output {
            case .accepted(let delivery):
                readingCount += delivery.readings.count
                outputs.append(.event(.accepted(delivery)))
                sum(.delivery(delivery), now)
            case .born(let peer, let birth): outputs.append(.event(.born(peer, birth)))
            case .send(let bytes, let peer):
                say(bytes, to: peer, as: .sendReliable(bytes, to: peer), now)
            case .sendUnreliable(let bytes, let peer):
                say(bytes, to: peer, as: .sendUnreliable(bytes, to: peer, .control), now)
            case .commit(let batch): outputs.append(.store(.commit(batch, clock: ownClock)))
            case .diagnostic(let diagnostic): outputs.append(.event(.diagnostic(diagnostic)))
            case .drop(let reason, let count):
                drops.count(reason, UInt64(clamping: count))
                outputs.append(.event(.dropped(reason, count: count)))
            }
        }
    }

    /// What is said leaves before what is said next. What answers the node's events waits for
    /// its next flush.
    private func say(
        _ bytes: [UInt8], to peer: PeerID, as input: Node.Input, _ now: Instant
    ) {
        outputs.append(.event(.said(bytes, to: peer)))
        node.handle(input, now: now)
        settle(now)
    }

    private func storeAnswered(_ answer: StoreResult, _ now: Instant) {
        switch answer {
        case .opened(let runs, let clocks, let diagnostics):
            outputs += diagnostics.map { .event(.storeDiagnostic($0)) }
            tell(.restored(runs, clocks), now)
        case .committed(let refused, let freeBytes):
            if storeFault != nil { outputs.append(.event(.storeWorks)) }
            storeFault = nil
            if let freeBytes { tell(.storeSpace(freeBytes), now) }
            if !refused.isEmpty { tell(.partsRefused(refused), now) }
            tell(.committed, now)
        case .refused(let fault):
            if storeFault != fault { outputs.append(.event(.storeFailed(fault))) }
            storeFault = fault
            tell(.refused, now)
        }
    }

    // MARK: Windows

    private func sum(_ input: WindowAggregator.Input, _ now: Instant) {
        for output in windows.handle(input, now: now) {
            switch output {
            case .window(let window): outputs.append(.event(.window(window)))
            case .shareFull(let peer, let node):
                outputs.append(.event(.windowsFull(peer, node)))
            case .drop(let reason, let count): drops.count(reason, UInt64(clamping: count))
            }
        }
    }
}
