/// What answers mean whatever the server is.
public enum HTTPFault {
    /// Nil for what depends on the server: success, and requests that it found fault with.
    public static func common(
        _ answer: HTTPAnswer, at target: String, hiding secrets: [String] = []
    ) -> OutputFault? {
        let what = "\(target) answered \(answer.status)"
        switch answer.status {
        case 300..<400:
            return OutputFault(
                .unsuitable, "\(what), which leads elsewhere; write the address that it means")
        case 407:
            return OutputFault(.refused, "\(what): the proxy wants a password; check http_proxy")
        case 408, 425, 429, 500..<600:
            let words = ServerWords.text(of: answer.body, hiding: secrets).map { ": " + $0 } ?? ""
            return OutputFault(.unavailable, "\(what)\(words); it is tried again")
        case ..<200, 600...:
            return OutputFault(.unsuitable, "\(what), which is no answer of HTTP; check url")
        default: return nil
        }
    }

    /// 401 and 403.
    public static func refused(
        _ answer: HTTPAnswer, at target: String, hiding secrets: [String], advice: String
    ) -> OutputFault {
        let words = ServerWords.text(of: answer.body, hiding: secrets).map { " (\($0))" } ?? ""
        return OutputFault(
            .refused,
            answer.status == 401
                ? "\(target) rejects user and password, or the token\(words); \(advice)"
                : "\(target) does not allow that\(words); \(advice)")
    }
}
