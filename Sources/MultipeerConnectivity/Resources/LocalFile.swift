import Foundation
import FoundationNetworking

/// A file to send: one that is here, or a copy of what is on the web, which goes with this object.
final class LocalFile: Sendable {
    /// Whether a URL's scheme is one of those, in whatever case (RFC 3986, section 3.1).
    static func isSupported(_ url: URL) -> Bool {
        ["file", "http", "https"].contains(url.scheme?.lowercased())
    }

    let path: String
    private let isOurs: Bool

    /// Throws `MCError` for a file that is not there, and for an answer of the server that is no
    /// success.
    init(of url: URL) async throws {
        if url.scheme?.lowercased() == "file" {
            path = url.path
            isOurs = false
            guard FileManager.default.isReadableFile(atPath: path) else {
                throw MCError(.unavailable, "\(path) cannot be read.")
            }
        } else {
            // FoundationNetworking knows its schemes in small letters only.
            var components = URLComponents(url: url, resolvingAgainstBaseURL: true)
            components?.scheme = url.scheme?.lowercased()
            path = try await Self.fetch(components?.url ?? url)
            isOurs = true
        }
    }

    deinit {
        if isOurs { try? FileManager.default.removeItem(atPath: path) }
    }

    /// Downloads to a temporary file, whatever the size. Ends when the task is cancelled.
    private static func fetch(_ url: URL) async throws -> String {
        let fetching = Guarded<URLSessionDownloadTask?>(nil)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let task = URLSession.shared.downloadTask(with: url) { file, response, error in
                    continuation.resume(
                        with: Result { try keep(file, of: url, response: response, error: error) })
                }
                fetching.with { $0 = task }
                if Task.isCancelled { task.cancel() }
                task.resume()
            }
        } onCancel: {
            fetching.with { $0 }?.cancel()
        }
    }

    /// The download's own file is gone when its handler returns.
    private static func keep(
        _ file: URL?, of url: URL, response: URLResponse?, error: (any Error)?
    ) throws -> String {
        guard let file, error == nil else {
            throw MCError(
                .unavailable,
                "\(url) was not fetched: \(error?.localizedDescription ?? "no file came").")
        }
        let status = (response as? HTTPURLResponse)?.statusCode ?? 0
        guard (200..<300).contains(status) else {
            throw MCError(.unavailable, "\(url) was not fetched: the server answered \(status).")
        }
        let copy = FileManager.default.temporaryDirectory
            .appendingPathComponent("resource-\(UUID().uuidString)")
        try FileManager.default.moveItem(at: file, to: copy)
        return copy.path
    }
}
