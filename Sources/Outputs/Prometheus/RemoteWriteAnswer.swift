/// What a server's answer to remote write means.
public enum RemoteWriteAnswer: Hashable, Sendable {
    case written
    /// Nothing of the request was taken, because of one of its samples at least. It was looked at:
    /// `isAboutTime` says that a sample came too late, or twice.
    case refused(why: String, isAboutTime: Bool)
    case tooLarge
    case fault(OutputFault)

    public init(_ answer: HTTPAnswer, at target: String, hiding secrets: [String] = []) {
        let words = ServerWords.text(of: answer.body, hiding: secrets) ?? "no reason given"
        let isPage = answer.body.first { $0 > 0x20 } == UInt8(ascii: "<")
        switch answer.status {
        case 200..<300 where !isPage: self = .written
        case _ where Self.isAboutSamples(answer):
            self = .refused(why: words, isAboutTime: Self.isAboutTime(words))
        case 400, 409, 422: self = .refused(why: words, isAboutTime: false)
        case 413: self = .tooLarge
        case 401, 403:
            self = .fault(
                HTTPFault.refused(
                    answer, at: target, hiding: secrets,
                    advice: "check user and password-file, or token-file"))
        case 404, 405:
            self = .fault(
                OutputFault(
                    .unsuitable,
                    "\(target) accepts no remote write there (\(answer.status)): start Prometheus "
                        + "with --web.enable-remote-write-receiver, and let url end in "
                        + "/api/v1/write"))
        default:
            self = .fault(
                OutputFault(
                    .unsuitable,
                    "\(target) answered \(answer.status)\(isPage ? " with a web page" : ""); "
                        + "check that url leads to a server that accepts remote write"))
        }
    }

    /// Prometheus 2.39 to 2.47 answer 500 where a sample is older than their out-of-order window:
    /// to try again would be in vain.
    public static func isAboutSamples(_ answer: HTTPAnswer) -> Bool {
        guard [400, 409, 422, 500].contains(answer.status) else { return false }
        return ServerWords.text(of: answer.body).map(isAboutTime) ?? false
    }

    private static func isAboutTime(_ words: String) -> Bool {
        let words = Array(words.lowercased().utf8)
        let marks = [
            "out of order", "out-of-order", "out of bounds", "duplicate sample", "too old",
            "too far",
        ]
        return marks.contains { mark in
            words.indices.contains { words[$0...].starts(with: mark.utf8) }
        }
    }
}
