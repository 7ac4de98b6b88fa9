import NearbyCore
import Telemetry

/// What a collector's owner shall read in the log.
public enum CollectorDiagnostic: Hashable, Sendable {
    /// Nothing more is taken of this agent for now; told once, until it is kept again.
    case quotaReached(Quota, of: PeerID)
    case quotaKept(Quota, of: PeerID)
    /// The agent holds readings no more that this store never had; once a run.
    case settledElsewhere(RunKey, Range<UInt64>)
    /// The store cannot write what came of this run, and went on without it.
    case partRefused(RunKey, reason: String)
    /// Of dates that moved, and of agents whose clocks are far off.
    case clock(ClockDiagnostic)
}
