import CCurl
import Foundation

/// What is at a web address, fetched to a temporary file whatever its size.
///
/// With libcurl: a download of FoundationNetworking that fails leaves its file behind, and one that
/// is asked for a password waits for ever.
final class WebDownload: Sendable {
    private let url: URL
    private let continuation = Guarded<CheckedContinuation<String, any Error>?>(nil)
    private let isCancelled = Guarded(false)

    init(_ url: URL) { self.url = url }

    /// The path of the file, which is the caller's. Throws at once when the task is cancelled.
    ///
    /// - Throws: `MCError` of `unavailable`, also for an answer that is no success;
    ///   `CancellationError`.
    func file() async throws -> String {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                self.continuation.with { $0 = continuation }
                guard !Task.isCancelled else { return cancel() }
                Self.queue.addOperation { self.run() }
            }
        } onCancel: {
            cancel()
        }
    }

    /// Downloads block a thread each, and more of them would only share what there is.
    private static let queue: OperationQueue = {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 8
        return queue
    }()

    private func cancel() {
        isCancelled.with { $0 = true }
        end(.failure(CancellationError()))
    }

    /// - Returns: false if the caller was told before.
    @discardableResult
    private func end(_ result: Result<String, any Error>) -> Bool {
        let waiting = continuation.with { continuation in
            defer { continuation = nil }
            return continuation
        }
        waiting?.resume(with: result)
        return waiting != nil
    }

    private func run() {
        guard !isCancelled.with({ $0 }) else { return }
        let path = FileManager.default.temporaryDirectory
            .appendingPathComponent("resource-\(UUID().uuidString)").path
        let transfer = WebTransfer(into: path) { [isCancelled] in isCancelled.with { $0 } }
        if let fault = transfer.fault(of: url) {
            unlink(path)
            end(.failure(MCError(.unavailable, "\(shown) could not be fetched: \(fault).")))
        } else if !end(.success(path)) {
            unlink(path)
        }
    }

    /// The address without the password that may be in it.
    private var shown: String {
        var components = URLComponents(url: url, resolvingAgainstBaseURL: true)
        components?.user = nil
        components?.password = nil
        return components?.string ?? url.absoluteString
    }
}
