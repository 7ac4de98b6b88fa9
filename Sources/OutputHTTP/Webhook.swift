import CollectorConfiguration
import Outputs

/// An address that takes JSON by POST, and answers with success.
public final class Webhook {
    private let client: HTTPClient

    public init(_ server: HTTPServer) { client = HTTPClient(server) }

    /// `host:port`.
    public var target: String { client.target }

    /// - Parameter json: an object.
    public func post(json: String) throws(OutputFault) {
        let answer = try client.post(
            HTTPRequest(contentType: "application/json", body: Array(json.utf8)))
        if answer.isSuccess { return }
        switch answer.status {
        case 401, 403:
            throw HTTPFault.refused(
                answer, at: target, hiding: client.secrets,
                advice: "check user and password-file, or token-file")
        default:
            let words = ServerWords.text(of: answer.body, hiding: client.secrets)
            throw OutputFault(
                .unsuitable,
                "\(target) answered \(answer.status)\(words.map { " (\($0))" } ?? ""); check url")
        }
    }

    public func close() { client.close() }
}
