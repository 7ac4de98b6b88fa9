import NearbyCore
import Telemetry

extension Limits {
    /// Agents that a notice about clocks names.
    static let clockNamesMax = 8
}

/// What people are told of the clocks.
public enum ClockDiagnostic: Hashable, Sendable {
    /// Our date moved by more than a minute, and with it what it dates.
    ///
    /// - Parameter says: the agents that said so, ascending; empty: our own clock.
    case moved(by: Duration, rank: ClockRank, says: [PeerID])
    /// An agent's clock differs by more than a minute from ours, and we do not go by it.
    ///
    /// - Parameter isSource: whether its clock could be gone by at all.
    case overruled(
        PeerID, rank: ClockRank, by: Duration, isOursSynchronised: Bool, isSource: Bool)

    /// One line: what happened, who said it, what to do.
    public var text: String {
        switch self {
        case .moved(let distance, let rank, let peers):
            "the date moved by \(Self.text(distance)): so "
                + (peers.isEmpty
                    ? "says this machine's clock"
                    : "say the clocks of " + peers.map { "\($0)" }.joined(separator: ", "))
                + " (\(rank.name))"
        case .overruled(let peer, let rank, let distance, let isOursSynchronised, let isSource):
            "the clock of \(peer) (\(rank.name)) is \(Self.text(distance)) off ours and is not "
                + "gone by: "
                + (isOursSynchronised
                    ? "ours is synchronised; look after that board's clock"
                    : (isSource
                        ? "several must agree on a move of more than a minute; "
                        : "collectors: does not name it; ") + "synchronise this machine's clock")
        }
    }

    /// `+3 days`, `-90 s`.
    private static func text(_ distance: Duration) -> String {
        let seconds = distance.nanoseconds / 1_000_000_000
        let size = seconds.magnitude
        let sign = seconds < 0 ? "-" : "+"
        return switch size {
        case 172_800...: "\(sign)\(size / 86_400) days"
        case 7_200...: "\(sign)\(size / 3_600) h"
        default: "\(sign)\(size) s"
        }
    }
}
