import Foundation

/// A file to send: one that is here, or a copy of what is on the web, which goes with this object.
final class LocalFile: Sendable {
    /// Whether a URL's scheme is one of those, in whatever case (RFC 3986, section 3.1).
    static func isSupported(_ url: URL) -> Bool {
        ["file", "http", "https"].contains(url.scheme?.lowercased())
    }

    /// Of a file that is here, in bytes; nil where it is not known before the file was fetched.
    static func size(of url: URL) -> Int64? {
        guard url.scheme?.lowercased() == "file" else { return nil }
        let attributes = try? FileManager.default.attributesOfItem(atPath: url.path)
        return (attributes?[.size] as? NSNumber)?.int64Value
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
            path = try await WebDownload(url).file()
            isOurs = true
        }
    }

    deinit {
        if isOurs { try? FileManager.default.removeItem(atPath: path) }
    }
}
