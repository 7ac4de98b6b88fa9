/// Why a server did not do what it was asked, in its own words, made fit for a log: printable,
/// short, and without the secrets that it was sent.
public enum ServerWords {
    static let charactersMax = 200

    /// The member `error` or `message` of a JSON object, or a line of plain text; nil if it said
    /// nothing that can be shown.
    public static func text(of body: [UInt8], hiding secrets: [String] = []) -> String? {
        let text = String(decoding: body.prefix(4_096), as: UTF8.self)
        let isJSON = text.first { !$0.isWhitespace } == "{"
        var words = isJSON ? member("error", text) ?? member("message", text) : line(text)
        for secret in secrets where words?.contains(secret) == true { words = "(not shown)" }
        return words.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// HTML is a page of somebody else's.
    private static func line(_ text: String) -> String? {
        let first = text.split(whereSeparator: \.isNewline).first ?? ""
        return first.first { !$0.isWhitespace } == "<" ? nil : printable(first.unicodeScalars)
    }

    /// The first member of that name whose value is a string, wherever in the object it is.
    private static func member(_ name: String, _ text: String) -> String? {
        let scalars = Array(text.unicodeScalars)
        let wanted = Array("\"\(name)\"".unicodeScalars)
        var start = 0
        while start + wanted.count < scalars.count {
            defer { start += 1 }
            guard scalars[start...].starts(with: wanted) else { continue }
            var rest = scalars[(start + wanted.count)...].drop { $0 == " " }
            guard rest.popFirst() == ":" else { continue }
            rest = rest.drop { $0 == " " }
            guard rest.popFirst() == "\"" else { continue }
            return printable(string(rest))
        }
        return nil
    }

    /// A JSON string up to its end; escapes that stand for more than a character are left out.
    private static func string(_ rest: ArraySlice<Unicode.Scalar>) -> [Unicode.Scalar] {
        var result: [Unicode.Scalar] = []
        var isEscaped = false
        for scalar in rest.prefix(1_000) {
            if isEscaped {
                result.append("nrtbfu".unicodeScalars.contains(scalar) ? " " : scalar)
                isEscaped = false
            } else if scalar == "\\" {
                isEscaped = true
            } else if scalar == "\"" {
                break
            } else {
                result.append(scalar)
            }
        }
        return result
    }

    private static func printable(_ scalars: some Sequence<Unicode.Scalar>) -> String {
        var view = String.UnicodeScalarView()
        for scalar in scalars.prefix(charactersMax) {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse,
                .unassigned:
                view.append(" ")
            default: view.append(scalar)
            }
        }
        let text = String(view)
        return String(text.drop(while: \.isWhitespace))
    }
}
