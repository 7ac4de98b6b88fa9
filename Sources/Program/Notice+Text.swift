import NearbyCore
import NearbyEngine
import NearbyLinux

extension Node.Notice {
    package var level: StandardErrorLog.Level {
        switch self {
        case .neighbourUp, .neighbourMoved: .information
        case .neighbourLost: .notice
        case .refused, .noCollector: .warning
        case .ownIdentityElsewhere: .error
        }
    }

    /// One line: what happened, with whom and where, and what to do.
    package func text(_ runner: NodeRunner) -> String {
        switch self {
        case .neighbourUp(_, let name, let endpoint):
            "neighbour \(name) at \(runner.text(endpoint)) on \(runner.name(of: endpoint.link))"
        case .neighbourMoved(_, let name, let endpoint):
            "neighbour \(name) now at \(runner.text(endpoint)) on "
                + runner.name(of: endpoint.link)
        case .neighbourLost(_, let name): "neighbour \(name) does not answer any more"
        case .refused(let peer, let reason, let endpoint, let text):
            "\(peer.map { "\($0)" } ?? "a stranger")"
                + "\(endpoint.map { " at " + runner.text($0) } ?? ""): \(reason.rawValue): \(text)"
        case .noCollector(let peer, let name, let role):
            "\(name) (\(peer)) calls itself a collector and was admitted as \(role): it gets no "
                + "readings; if it is no node of yours, change the network's secret"
        case .ownIdentityElsewhere(let endpoint):
            "\(runner.text(endpoint)) says that it has our key: if a card was cloned, "
                + "delete identity.pem on the copy"
        }
    }
}
