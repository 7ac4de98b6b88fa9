import Collector
import NearbyCore
import NearbyEngine
import Telemetry

/// The telemetry side of a collector, or of a viewer, wired as in `CollectorProgram`.
final class CollectorSide: ReadingsSide {
    private let host: Host
    private let truth: ReadingsTruth
    private var store: SimulatedStore
    private var machine: CollectorMachine?
    private var effects: [ReadingsEffect] = []
    var isCalm = false { didSet { store.isCalm = isCalm } }

    init(host: Host, faults: ReadingFaults, truth: ReadingsTruth, seed: UInt64) {
        self.host = host
        self.truth = truth
        store = SimulatedStore(faults, truth: truth, seed: seed)
    }

    var nextDeadline: Instant? { machine?.nextDeadline }

    var uncommittedCount: Int { machine?.uncommittedCount ?? 0 }

    private var isDurable: Bool { host.role == .collector }

    func handle(_ input: ReadingsInput, now: Instant) -> [ReadingsEffect] {
        switch input {
        case .boot: boot(now)
        case .node(let event): interpret(event, now)
        case .event(.deadline): give(.deadlineReached, now)
        case .event(.disk): storeFinished(now)
        case .event(.sample): break
        }
        defer { effects = [] }
        return effects
    }

    func crash(now: Instant) {
        store.crash()
        machine = nil
    }

    private func boot(_ now: Instant) {
        machine = CollectorMachine(
            isDurable: isDurable, boot: BootID(high: 9, low: UInt64(host.number)))
        if isDurable { post(.open) }
        // One in two keeps the date by itself.
        let rank: ClockRank = host.number % 2 == 0 ? .network : .none
        let clock = ClockReading(rank: rank, unixOffset: ReadingsTruth.unixOffset(of: host))
        give(.ownClock(clock), now)
    }

    private func interpret(_ event: Node.Event, _ now: Instant) {
        switch event {
        case .message(let bytes, let peer, _, let hops):
            give(.received(bytes, from: peer, hops: UInt8(clamping: hops)), now)
        case .peer(let peer, .connected): give(.connected(peer), now)
        case .peer(let peer, .notConnected): give(.disconnected(peer), now)
        case .peer, .collector, .viewers, .notice: break
        }
    }

    private func storeFinished(_ now: Instant) {
        guard let (answer, next) = store.finish() else { return }
        if let next { effects.append(.later(.disk, after: next)) }
        switch answer {
        case .opened(let runs, let clocks): give(.restored(runs, clocks), now)
        case .committed: give(.committed, now)
        case .refused: give(.refused, now)
        }
    }

    private func give(_ input: CollectorMachine.Input, _ now: Instant) {
        guard let outputs = machine?.handle(input, now: now) else { return }
        for output in outputs {
            switch output {
            case .send(let bytes, let peer):
                check(bytes)
                effects.append(.node(.sendReliable(bytes, to: peer)))
            case .sendUnreliable(let bytes, let peer):
                check(bytes)
                effects.append(.node(.sendUnreliable(bytes, to: peer, .control)))
            case .commit(let batch):
                if !isDurable { truth.fail("viewer \(host.number) wants to store") }
                post(.commit(batch))
            case .accepted(let delivery): store.accepted(delivery)
            case .born, .notice, .drop: break
            }
        }
        checkTables()
    }

    private func post(_ job: SimulatedStore.Job) {
        if let time = store.post(job) { effects.append(.later(.disk, after: time)) }
    }

    // MARK: What must hold

    /// A viewer settles nothing.
    private func check(_ bytes: [UInt8]) {
        if !isDurable, bytes.first == TelemetryTag.receipt.rawValue {
            truth.fail("viewer \(host.number) gave a receipt")
        }
    }

    private func checkTables() {
        guard let machine else { return }
        let sizes = [
            ("agents", machine.peerCount, Limits.collectorPeersMax),
            ("held reports", machine.heldReportCount, Limits.heldReportsMax),
            ("uncommitted", machine.uncommittedCount, Limits.uncommittedReadingsMax + 1_000),
        ]
        for (name, count, limit) in sizes where count > limit {
            truth.fail("host \(host.number): \(count) \(name) of \(limit)")
        }
    }
}
