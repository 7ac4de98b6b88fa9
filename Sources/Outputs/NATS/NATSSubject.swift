/// Subjects of readings: `rivulet.<network>.<node>.<channel>`.
public struct NATSSubject: Hashable, Sendable {
    private let begin: String

    /// - Parameter prefix: words of letters, digits, - and _ with points between.
    public init(prefix: String, network: String) {
        begin = prefix + "." + Self.token(network) + "."
    }

    /// What a stream has to listen to.
    public static func all(prefix: String) -> String { prefix + ".>" }

    /// All of this network.
    public var all: String { begin + ">" }

    public func subject(of series: OutputSeries) -> String {
        begin + Self.token(series.node.name) + "." + Self.token(series.channel)
    }

    /// One word of a subject from foreign text. What has a meaning there (`.`, `*`, `>`), white
    /// space, control characters and `%` become `%` and two hexadecimal digits for each byte;
    /// empty text becomes a lone `%`. Different texts stay different.
    static func token(_ text: String) -> String {
        guard !text.isEmpty else { return "%" }
        var token: [UInt8] = []
        for scalar in text.unicodeScalars {
            let isPlain =
                scalar.value > 0x20 && !reserved.contains(scalar)
                && !scalar.properties.isWhitespace
            for byte in String(scalar).utf8 {
                if isPlain {
                    token.append(byte)
                } else {
                    token += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
                }
            }
        }
        return String(decoding: token, as: UTF8.self)
    }

    private static let reserved: Set<Unicode.Scalar> = [".", "*", ">", "%", "\u{7f}"]
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// Whether messages for `subject` (no wildcards but a last `>`) come into what listens to
    /// `filter`.
    public static func covers(_ filter: String, _ subject: String) -> Bool {
        let words = subject.split(separator: ".", omittingEmptySubsequences: false)
        let pattern = filter.split(separator: ".", omittingEmptySubsequences: false)
        for (index, word) in pattern.enumerated() {
            if word == ">" { return index < words.count }
            guard index < words.count, words[index] != ">" else { return false }
            guard word == "*" || word == words[index] else { return false }
        }
        return words.count == pattern.count
    }
}
