import NodeShell

/// Reads the JSON that a node says of itself (RFC 8259). What is no such text is nil, whatever it
/// is.
struct JSONReader {
    private var rest: Substring.UnicodeScalarView
    private static let depthMax = 16

    static func value(_ text: String) -> JSONValue? {
        var reader = JSONReader(rest: Substring(text).unicodeScalars)
        guard let value = reader.value(depth: 0) else { return nil }
        reader.skipSpace()
        return reader.rest.isEmpty ? value : nil
    }

    private init(rest: Substring.UnicodeScalarView) { self.rest = rest }

    private mutating func value(depth: Int) -> JSONValue? {
        guard depth < Self.depthMax else { return nil }
        skipSpace()
        switch rest.first {
        case "{": return object(depth)
        case "[": return array(depth)
        case "\"": return string().map { .string($0) }
        case "t": return take("true") ? .flag(true) : nil
        case "f": return take("false") ? .flag(false) : nil
        case "n": return take("null") ? .null : nil
        default: return number()
        }
    }

    private mutating func object(_ depth: Int) -> JSONValue? {
        var members: [(String, JSONValue)] = []
        let isWhole = list("{", "}") { reader in
            reader.skipSpace()
            guard let name = reader.string() else { return false }
            reader.skipSpace()
            guard reader.take(":"), let value = reader.value(depth: depth + 1) else { return false }
            members.append((name, value))
            return true
        }
        return isWhole ? .object(members) : nil
    }

    private mutating func array(_ depth: Int) -> JSONValue? {
        var items: [JSONValue] = []
        let isWhole = list("[", "]") { reader in
            guard let value = reader.value(depth: depth + 1) else { return false }
            items.append(value)
            return true
        }
        return isWhole ? .array(items) : nil
    }

    private mutating func list(
        _ begin: String, _ end: String, _ item: (inout JSONReader) -> Bool
    ) -> Bool {
        guard take(begin) else { return false }
        skipSpace()
        if take(end) { return true }
        while item(&self) {
            skipSpace()
            if take(end) { return true }
            guard take(",") else { return false }
        }
        return false
    }

    private mutating func string() -> String? {
        guard take("\"") else { return nil }
        var result = String.UnicodeScalarView()
        while let scalar = rest.popFirst() {
            switch scalar {
            case "\"": return String(result)
            case "\\":
                guard let escaped = escaped() else { return nil }
                result.append(escaped)
            default: result.append(scalar)
            }
        }
        return nil
    }

    private mutating func escaped() -> Unicode.Scalar? {
        switch rest.popFirst() {
        case "\"": return "\""
        case "\\": return "\\"
        case "/": return "/"
        case "b": return "\u{8}"
        case "f": return "\u{c}"
        case "n": return "\n"
        case "r": return "\r"
        case "t": return "\t"
        case "u":
            let digits = String(String.UnicodeScalarView(rest.prefix(4)))
            rest = rest.dropFirst(4)
            return digits.utf8.count == 4
                ? UInt32(digits, radix: 16).flatMap(Unicode.Scalar.init) : nil
        default: return nil
        }
    }

    private mutating func number() -> JSONValue? {
        let scalars = rest.prefix {
            "0"..."9" ~= $0 || $0 == "-" || $0 == "+" || $0 == "." || $0 == "e" || $0 == "E"
        }
        let text = String(String.UnicodeScalarView(scalars))
        rest = rest[scalars.endIndex...]
        if let whole = Int64(text) { return .number(whole) }
        return Double(text) == nil ? nil : .decimal(text)
    }

    private mutating func skipSpace() {
        rest = rest.drop { $0 == " " || $0 == "\n" || $0 == "\r" || $0 == "\t" }
    }

    private mutating func take(_ text: String) -> Bool {
        guard rest.starts(with: text.unicodeScalars) else { return false }
        rest = rest.dropFirst(text.unicodeScalars.count)
        return true
    }
}

extension JSONValue {
    /// A member of an object; null where there is none.
    subscript(name: String) -> JSONValue {
        guard case .object(let members) = self else { return .null }
        return members.first { $0.0 == name }?.1 ?? .null
    }

    var items: [JSONValue] { if case .array(let items) = self { items } else { [] } }

    var members: [(String, JSONValue)] {
        if case .object(let members) = self { members } else { [] }
    }

    var string: String? { if case .string(let text) = self { text } else { nil } }

    var integer: Int64? { if case .number(let value) = self { value } else { nil } }

    var flag: Bool { if case .flag(true) = self { true } else { false } }
}
