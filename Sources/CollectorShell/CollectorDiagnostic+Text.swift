import Collector
import Configuration
import NearbyCore
import NodeShell

extension CollectorDiagnostic {
    /// One line: what happened, with whom, and what to do.
    func text(_ runner: NodeRunner) -> String {
        switch self {
        case .quotaReached(let quota, let peer):
            "\(Self.name(of: peer, runner)) has reached its quota of \(quota.words): what is "
                + "beyond is not taken, and the agent keeps it"
        case .quotaKept(let quota, let peer):
            "\(Self.name(of: peer, runner)) keeps its quota of \(quota.words) again"
        case .settledElsewhere(let key, let range):
            "\(Self.name(of: key.peer, runner)) holds readings \(range.lowerBound) to "
                + "\(range.upperBound - 1) of run \(key.run) no more, and some of them never came "
                + "here: another collector has them, or says so (`rivulet query --gaps`)"
        case .partRefused(let key, let reason):
            "what \(Self.name(of: key.peer, runner)) sent of run \(key.run) cannot be stored, and "
                + "is left out: \(reason)"
        case .clock(let diagnostic): diagnostic.text
        }
    }

    private static func name(of peer: PeerID, _ runner: NodeRunner) -> String {
        runner.node.name(of: peer).map { "\($0) (\(peer))" } ?? "\(peer)"
    }
}

extension Quota {
    fileprivate var words: String {
        switch self {
        case .readings: "readings a second (`collector: readings-per-agent`)"
        case .births: "births, \(Limits.birthsPerMinuteMax) a minute"
        case .store: "bytes a day (`collector: store-per-agent`, and a quarter of the free disk)"
        }
    }
}

extension CollectorQuotas {
    init(_ settings: Settings) {
        self.init()
        readingsPerSecond = settings.readingsPerAgent
        storeBytesPerDay = settings.storePerAgent
    }
}
