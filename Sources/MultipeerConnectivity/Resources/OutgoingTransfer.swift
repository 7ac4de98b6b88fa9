import Foundation
import Nearby

/// A resource on its way to a peer: fetched first where it is on the web, then sent.
///
/// `Progress` counts bytes; while a file is fetched, its size is not known and it is indeterminate.
final class OutgoingTransfer: Sendable {
    let progress: Foundation.Progress
    private let task = Guarded<Task<Void, Never>?>(nil)
    private let sending = Guarded<OutgoingResource?>(nil)
    /// Whether the peer left the session before there was anything to send.
    private let isAbandoned = Guarded(false)

    /// Throws `MCError` for what cannot begin.
    init(of url: URL, to peer: MCPeerID, in session: Session) throws {
        guard session.connectedPeers.contains(peer.peer) else {
            throw MCError(.notConnected, "\(peer.displayName) is not connected.")
        }
        guard LocalFile.isSupported(url) else {
            throw MCError(.unsupported, "\(url) is no file:, http: or https: URL.")
        }
        progress = .discreteProgress(totalUnitCount: LocalFile.size(of: url) ?? -1)
        progress.isCancellable = true
    }

    /// - Parameter completion: Called once, on any thread.
    func begin(
        _ url: URL, named name: String, to peer: MCPeerID, in session: Session, link: SessionLink,
        completion: @escaping @Sendable ((any Error)?) async -> Void
    ) {
        progress.onCancel { [weak self] in self?.cancel() }
        let observer = link.observe { [weak self] changed, state in
            if changed == peer, state == .notConnected { self?.abandon() }
        }
        let work = Task {
            defer { link.removeObserver(observer) }
            do {
                try await run(url, named: name, to: peer, in: session)
                await completion(nil)
            } catch {
                await completion(failure(error, named: name, to: peer))
            }
        }
        task.with { $0 = work }
        // Either may have come before there was a task.
        if progress.isCancelled || isAbandoned.with({ $0 }) { work.cancel() }
    }

    private func failure(_ error: any Error, named name: String, to peer: MCPeerID) -> MCError {
        if progress.isCancelled { return MCError(.cancelled, "Sending “\(name)” was cancelled.") }
        guard isAbandoned.with({ $0 }) else { return MCError(describing: error) }
        return MCError(
            .notConnected,
            "“\(name)” was not sent: \(peer.displayName) is no longer in the session.")
    }

    private func run(
        _ url: URL, named name: String, to peer: MCPeerID, in session: Session
    ) async throws {
        let file = try await LocalFile(of: url)
        try checkCancellation()
        let resource = try session.sendResource(file: file.path, named: name, to: peer.peer)
        sending.with { $0 = resource }
        // Cancelled between the two: the handler found nothing to cancel.
        if progress.isCancelled { resource.cancel() }
        let counting = progress.follow(resource.progress)
        defer { counting.cancel() }
        try await resource.finished()
        progress.update(resource.current)
        await progress.complete()
        withExtendedLifetime(file) {}
    }

    private func checkCancellation() throws {
        if progress.isCancelled { throw CancellationError() }
    }

    /// What is being fetched is of no use without the peer.
    private func abandon() {
        guard sending.with({ $0 }) == nil else { return }
        isAbandoned.with { $0 = true }
        task.with { $0 }?.cancel()
    }

    private func cancel() {
        sending.with { $0 }?.cancel()
        task.with { $0 }?.cancel()
    }
}
