import Collector
import CollectorComposition
import NearbyCore
import NearbyEngine
import NearbySimulator
import Telemetry

/// A collector, or a viewer, as `CollectorProgram` runs it, and what must hold of it.
final class CollectorSide: ReadingsSide {
    private unowned let host: Host
    private let truth: ReadingsTruth
    private var store: SimulatedStore
    private var collector: CollectorNode?
    private var effects: [HostEffect] = []
    var isCalm = false { didSet { store.isCalm = isCalm } }

    init(host: Host, faults: ReadingFaults, truth: ReadingsTruth, seed: UInt64) {
        self.host = host
        self.truth = truth
        store = SimulatedStore(faults, truth: truth, seed: seed)
    }

    package var node: Node? { collector?.node }

    package var routesVersion: UInt64 { collector?.node.routesVersion ?? 0 }

    package var nextDeadline: Instant? { collector?.nextDeadline }

    var uncommittedCount: Int { collector?.machine.uncommittedCount ?? 0 }

    private var isDurable: Bool { host.role == .collector }

    package func start(_ node: Node) {
        let number = UInt64(host.number)
        let settings = CollectorNode.Settings(
            isDurable: isDurable, boot: BootID(high: 9, low: number), seed: number)
        collector = CollectorNode(node: node, settings: settings)
    }

    package func handle(_ input: HostInput, now: Instant) -> [HostEffect] {
        switch input {
        case .boot: boot(now)
        case .network(let input): give(.network([input]), now)
        case .deadline: give(.deadlineReached, now)
        case .event(.disk): storeFinished(now)
        case .event(.sensors): break
        }
        defer { effects = [] }
        return effects
    }

    package func crash(now: Instant) {
        store.crash()
        collector = nil
    }

    private func boot(_ now: Instant) {
        give(.start, now)
        // One in two keeps the date by itself.
        let rank: ClockRank = host.number % 2 == 0 ? .network : .none
        let clock = ClockReading(rank: rank, unixOffset: ReadingsTruth.unixOffset(of: host))
        give(.clock(clock), now)
    }

    private func storeFinished(_ now: Instant) {
        guard let (answer, next) = store.finish() else { return }
        if let next { effects.append(.later(.disk, after: next)) }
        give(.store(answer), now)
    }

    private func give(_ input: CollectorNode.Input, _ now: Instant) {
        for output in collector?.handle(input, now: now) ?? [] {
            switch output {
            case .node(let output): effects.append(.node(output))
            case .store(let job): post(job)
            case .event(.accepted(let delivery)): store.accepted(delivery)
            case .event(.said(let bytes, _)): check(bytes)
            case .event: break
            }
        }
        checkTables()
    }

    private func post(_ job: CollectorNode.StoreJob) {
        if !isDurable { truth.fail("viewer \(host.number) wants to store") }
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
        guard let machine = collector?.machine else { return }
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
