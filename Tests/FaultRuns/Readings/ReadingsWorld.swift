import Collector
import NearbyCore
import NearbyEngine
import NearbySimulator
import Telemetry

/// A host's side where there are readings: the composition that the programs run, and a disk that
/// outlasts crashes.
protocol ReadingsSide: HostSide {
    /// From here on disks neither fail nor dawdle.
    var isCalm: Bool { get set }
}

/// Agents with journals, collectors with stores, and viewers: what flows between them through a
/// simulated network, and the truth about it.
public final class ReadingsWorld: ReadingsLedger {
    let truth = ReadingsTruth()
    private(set) var sides: [any ReadingsSide] = []

    public init(hosts: [Host], faults: ReadingFaults, seed: UInt64) {
        var random = SeededGenerator(seed: seed ^ 0x6a75_726e)
        var hasLiar = false
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

    package func calm() {
        for side in sides { side.isCalm = true }
    }

    package func takeFailures() -> [String] { truth.takeFailures() }

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

extension Simulator {
    /// Agents measure, collectors store; no other messages flow.
    public func measure(_ world: ReadingsWorld) { measure(world.sides, ledger: world) }
}
