import NearbyCore
import NearbyEngine
import NearbyLinux

extension Node.Notice {
    package var level: StandardErrorLog.Level {
        switch self {
        case .neighbourUp, .neighbourMoved: .information
        case .neighbourLost: .notice
        case .refused: .warning
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
        case .ownIdentityElsewhere(let endpoint):
            "the node at \(runner.text(endpoint)) has our key too: a card was copied; delete "
                + "identity.pem in the state directory of the copy and restart it"
        }
    }
}
