import Collector
import NearbyCore
import NearbyEngine
import Telemetry

/// What happens on the telemetry side of a host.
enum ReadingsInput {
    /// The process has just started.
    case boot
    case node(Node.Event)
    case event(ReadingsEvent)
}

enum ReadingsEvent {
    /// The machine's deadline.
    case deadline
    /// A sensor is due.
    case sample
    /// The disk or the store has done what it was told.
    case disk
}

enum ReadingsEffect {
    case node(Node.Input)
    case later(ReadingsEvent, after: Duration)
    /// A `.deadline` is to come, by the host's own clock.
    case wakeUp(at: Instant)
}

/// The telemetry side of one host: the real machine, wired to its node as the programs do it, and
/// a disk that outlasts crashes.
protocol ReadingsSide: AnyObject {
    var nextDeadline: Instant? { get }
    /// From here on disks neither fail nor dawdle.
    var isCalm: Bool { get set }
    func handle(_ input: ReadingsInput, now: Instant) -> [ReadingsEffect]
    func crash(now: Instant)
}

/// Agents with journals, collectors with stores, and viewers: what flows between them through a
/// simulated network, and the truth about it.
public final class ReadingsWorld {
    let truth = ReadingsTruth()
    private var sides: [any ReadingsSide] = []
    private var wakeUps: [Instant?]

    public init(hosts: [Host], faults: ReadingFaults, seed: UInt64) {
        var random = SeededGenerator(seed: seed ^ 0x6a75_726e)
        var hasLiar = false
        wakeUps = Array(repeating: nil, count: hosts.count)
        for host in hosts {
            let seed = random.next()
            switch host.role {
            case .collector, .viewer:
                sides.append(
                    CollectorSide(host: host, faults: faults, truth: truth, seed: seed))
            case .agent, .relay:
                var settings = AgentSettings(faults, &random)
                settings.liesAboutItsClock = faults.hasLyingClock && !hasLiar
                hasLiar = hasLiar || settings.liesAboutItsClock
                if !settings.liesAboutItsClock { truth.expectRightDates(of: host) }
                sides.append(AgentSide(host: host, settings: settings, truth: truth, seed: seed))
            }
        }
    }

    func handle(_ input: ReadingsInput, _ number: Int, now: Instant) -> [ReadingsEffect] {
        if case .event(.deadline) = input {
            // A deadline that was brought forward fires once, at its new time. One on a drifting
            // clock may fire a little early: then it is planned anew.
            guard let planned = wakeUps[number], planned <= now + .milliseconds(1) else {
                return []
            }
            wakeUps[number] = nil
        }
        var effects = sides[number].handle(input, now: now)
        if let next = sides[number].nextDeadline, next < wakeUps[number] ?? .distantFuture {
            wakeUps[number] = next
            effects.append(.wakeUp(at: next))
        }
        return effects
    }

    func crash(_ number: Int, now: Instant) {
        wakeUps[number] = nil
        sides[number].crash(now: now)
    }

    func calm() {
        for side in sides { side.isCalm = true }
    }

    func takeFailures() -> [String] { truth.takeFailures() }

    // MARK: How it ends

    /// No more readings are taken.
    public func stopMeasuring() {
        for case let side as AgentSide in sides { side.isMeasuring = false }
    }

    /// Whether no journal waits for a receipt, and no store for a commit.
    public var isSettled: Bool {
        sides.allSatisfy { side in
            switch side {
            case let agent as AgentSide: agent.waitingCount == 0
            case let collector as CollectorSide: collector.uncommittedCount == 0
            default: true
            }
        }
    }

    /// Who still waits, and for how much.
    public var waiting: [String] {
        sides.enumerated().compactMap { number, side in
            switch side {
            case let agent as AgentSide where agent.waitingCount > 0:
                "host \(number) holds \(agent.waiting)"
            case let collector as CollectorSide where collector.uncommittedCount > 0:
                "host \(number) has not stored \(collector.uncommittedCount)"
            default: nil
            }
        }
    }

    /// What is wrong when everything has come to rest.
    public var finalFailures: [String] { truth.finalFailures }

    /// What became of the readings of the whole run.
    public var counts: ReadingCounts { truth.counts }
}
