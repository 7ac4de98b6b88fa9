import NearbyCore
import NearbyEngine
import Sampling
import Telemetry

/// A whole agent without its sockets, drivers and files: sensors, telemeter and node composed.
///
/// A reading goes one way through it. `AgentSensors` says which sensor to ask, and makes samples of
/// what it gives; `Telemeter` numbers them, keeps them in the journal and makes messages of them;
/// `Node` carries these to whom they are for. What comes back over the network goes the other way.
///
/// Its one queue is the node's. An input is taken by the part that it is for, and what that part
/// wants by the next, at once. After each message, and in the end, the node is flushed: its
/// transmissions leave, its events go to the telemeter, whose messages go into the node; and again,
/// until the node has nothing more.
///
/// A class: nobody copies an agent.
public final class Agent {
    public private(set) var node: Node
    public private(set) var telemeter: Telemeter
    public private(set) var sensors = AgentSensors()
    /// Why the spool does not take what it should; nil: it does.
    public private(set) var spoolFault: String?
    /// Of readings that were never taken.
    public private(set) var drops = DropCounters()
    /// Whom the telemeter serves: as the node said last.
    private var collector: PeerID?
    private var viewers: [PeerID] = []
    private let hasSpool: Bool
    /// The node's outputs are being taken.
    private var isSettling = false
    private var outputs: [Output] = []

    /// - Parameter telemetry: without `spoolAfter` there is no spool.
    public init(node: Node, telemetry: Telemeter.Settings) {
        self.node = node
        hasSpool = telemetry.journal.spoolAfter != nil
        telemeter = Telemeter(settings: telemetry)
    }

    public var nextDeadline: Instant? {
        let earliest = min(
            node.nextDeadline ?? .distantFuture, telemeter.nextDeadline ?? .distantFuture,
            sensors.nextDeadline ?? .distantFuture)
        return earliest == .distantFuture ? nil : earliest
    }

    public func handle(_ input: Input, now: Instant) -> [Output] {
        switch input {
        case .start: if hasSpool { outputs.append(.spool(.open)) }
        case .network(let inputs): for input in inputs { node.handle(input, now: now) }
        case .configure(let plans): interpret(sensors.handle(.configure(plans), now: now), now)
        case .measured(let sensor, let generation, let measurements, let time):
            let input = AgentSensors.Input.measured(sensor, generation, measurements, at: time)
            interpret(sensors.handle(input, now: now), now)
            if let deadline = telemeter.openReportDeadline, !sensors.expectReading(by: deadline) {
                tell(.nothingExpected, now)
            }
        case .notAsked(let sensor): interpret(sensors.handle(.notAsked(sensor), now: now), now)
        case .reported(let sensor, let measurements):
            interpret(sensors.handle(.reported(sensor, measurements), now: now), now)
        case .clock(let reading):
            tell(.clock(reading), now)
            node.handle(.clock(unixOffset: reading.vouchedOffset), now: now)
        case .spool(let answer): spoolAnswered(answer, now)
        case .finish: finish(now)
        case .deadlineReached: deadlineReached(now)
        }
        settle(now)
        defer { outputs = [] }
        return outputs
    }

    private func deadlineReached(_ now: Instant) {
        if sensors.nextDeadline ?? .distantFuture <= now {
            interpret(sensors.handle(.deadlineReached, now: now), now)
        }
        if telemeter.nextDeadline ?? .distantFuture <= now { tell(.deadlineReached, now) }
        if node.nextDeadline ?? .distantFuture <= now { node.handle(.deadlineReached, now: now) }
    }

    /// What is still being read comes too late.
    private func finish(_ now: Instant) {
        interpret(sensors.handle(.configure([]), now: now), now)
        tell(.flush, now)
        if hasSpool { outputs.append(.spool(.end(lastSequence: telemeter.readingCount))) }
    }

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

    func interpret(_ event: Node.Event, _ now: Instant) {
        switch event {
        case .collector(let peer):
            if let collector { tell(.destinationDown(collector), now) }
            collector = peer
            if let peer { tell(.collectorUp(peer), now) }
        case .viewers(let peers):
            for gone in viewers where !peers.contains(gone) { tell(.destinationDown(gone), now) }
            for new in peers where !viewers.contains(new) { tell(.viewerUp(new), now) }
            viewers = peers
        case .message(let bytes, let peer, _, _): tell(.received(bytes, from: peer), now)
        case .peer, .application, .diagnostic, .echo: break
        }
    }

    // MARK: The sensors

    private func interpret(_ wanted: [AgentSensors.Output], _ now: Instant) {
        let samples = wanted.compactMap { output in
            if case .reading(let sample) = output { sample } else { nil }
        }
        if samples.count > 1 { tell(.expect(samples), now) }
        for output in wanted {
            switch output {
            case .sample(let sensor):
                outputs.append(.sample(sensor, generation: sensors.generation))
            case .reading(let sample): tell(.sample(sample), now)
            case .event(let event): outputs.append(.event(event))
            case .drop(let reason): drops.count(reason)
            }
        }
    }

    // MARK: The telemeter

    private func tell(_ input: Telemeter.Input, _ now: Instant) {
        let before = telemeter.readingCount
        let wanted = telemeter.handle(input, now: now)
        if case .sample(let sample) = input, telemeter.readingCount > before {
            outputs.append(.event(.reading(telemeter.readingCount, sample)))
        }
        for output in wanted {
            switch output {
            case .sendReliable(let bytes, let peer):
                say(bytes, to: peer, as: .sendReliable(bytes, to: peer), now)
            case .sendUnreliable(let bytes, let peer, let priority):
                say(bytes, to: peer, as: .sendUnreliable(bytes, to: peer, priority), now)
            case .drop(let reason, let count): drops.count(reason, UInt64(clamping: count))
            case .spool(let birth, let blocks):
                outputs.append(.spool(.append(birth: birth, blocks)))
            case .fetch(let stretch, let place): outputs.append(.spool(.fetch(stretch, place)))
            case .forget(let run, let unneeded): outputs.append(.spool(.forget(run, unneeded)))
            }
        }
    }

    /// What is said leaves before what is said next: a birth ahead of the report that needs it.
    /// What answers the node's events waits for its next flush.
    private func say(
        _ bytes: [UInt8], to peer: PeerID, as input: Node.Input, _ now: Instant
    ) {
        outputs.append(.event(.said(bytes, to: peer)))
        node.handle(input, now: now)
        settle(now)
    }

    private func spoolAnswered(_ answer: SpoolAnswer, _ now: Instant) {
        switch answer {
        case .opened(let runs, let previous, let diagnostics):
            for diagnostic in diagnostics { outputs.append(.event(.spoolDiagnostic(diagnostic))) }
            tell(.restore(runs, previous), now)
        case .appended(let places, let evicted):
            if spoolFault != nil { outputs.append(.event(.spoolWorks)) }
            spoolFault = nil
            tell(.spooled(places, evicted: evicted), now)
        case .fetched(let stretch, let bytes): tell(.fetched(stretch, bytes), now)
        case .done: break
        case .failed(let job, let fault):
            if spoolFault != fault { outputs.append(.event(.spoolFailed(fault))) }
            spoolFault = fault
            switch job {
            case .append: tell(.spoolFailed, now)
            case .fetch(let stretch, _): tell(.fetched(stretch, nil), now)
            case .open, .forget, .end: break
            }
        }
    }
}
