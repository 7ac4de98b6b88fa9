import Foundation
import Nearby

/// A resource on its way here: tells the delegate when it begins and when it is there or lost.
struct IncomingTransfer: Sendable {
    private let resource: IncomingResource
    private let link: SessionLink
    private let progress: Foundation.Progress

    init(_ resource: IncomingResource, link: SessionLink) {
        self.resource = resource
        self.link = link
        progress = .discreteProgress(totalUnitCount: resource.byteCount)
        progress.isCancellable = true
        progress.onCancel { resource.cancel() }
    }

    /// Returns when the delegate knows of it.
    func begin() async {
        await link.callDelegate { [self] delegate, session in
            delegate.session(
                session, didStartReceivingResourceWithName: resource.name,
                fromPeer: MCPeerID(resource.from), with: progress)
        }
        let counting = progress.follow(resource.progress)
        Task {
            let result: Result<NamedFile, MCError>
            do {
                result = .success(NamedFile(try await resource.file(), named: resource.name))
                await progress.complete()
            } catch {
                result = .failure(MCError(describing: error))
            }
            counting.cancel()
            await finish(result)
        }
    }

    /// The file lives as long as the resource and its named file, which are held here until the
    /// delegate has returned, and for a moment more: programs hand the URL on to another thread.
    private func finish(_ result: Result<NamedFile, MCError>) async {
        await link.callDelegate { [self] delegate, session in
            var url: URL?
            var failure: MCError?
            switch result {
            case .success(let file): url = file.url
            case .failure(let error): failure = error
            }
            delegate.session(
                session, didFinishReceivingResourceWithName: resource.name,
                fromPeer: MCPeerID(resource.from), at: url, withError: failure)
        }
        if case .success = result { try? await Task.sleep(for: Self.grace) }
        withExtendedLifetime((resource, result)) {}
    }

    private static let grace = Duration.seconds(5)
}

extension Foundation.Progress {
    /// Counts what `Nearby` counts, in bytes.
    func follow(_ events: Events<Nearby.Progress>) -> Task<Void, Never> {
        Task {
            for await event in events where !Task.isCancelled { update(event) }
        }
    }

    /// Through a child: `cancellationHandler` is for the program.
    func onCancel(_ body: @escaping @Sendable () -> Void) {
        let child = Foundation.Progress.discreteProgress(totalUnitCount: 0)
        child.cancellationHandler = body
        addChild(child, withPendingUnitCount: 0)
    }

    func update(_ progress: Nearby.Progress) {
        if totalUnitCount != progress.total { totalUnitCount = progress.total }
        if completedUnitCount != progress.completed { completedUnitCount = progress.completed }
    }

    func complete() async {
        // A progress with a total of 0 would never be finished.
        if totalUnitCount == 0 { totalUnitCount = 1 }
        if completedUnitCount != totalUnitCount { completedUnitCount = totalUnitCount }
        await NSKeyValueObservation.catchUp(with: self)
    }
}
