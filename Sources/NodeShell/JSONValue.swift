/// Just enough JSON (RFC 8259) to say what a node knows.
public enum JSONValue: CustomStringConvertible {
    case object([(String, JSONValue)])
    case array([JSONValue])
    case string(String)
    case number(Int64)
    /// A number that is no whole one, or a greater one, as it is written.
    case decimal(String)
    case flag(Bool)
    case null

    package static func integer(_ value: some BinaryInteger) -> JSONValue {
        .number(Int64(clamping: value))
    }

    package static func text(_ value: String?) -> JSONValue { value.map { .string($0) } ?? .null }

    public var description: String {
        switch self {
        case .object(let members):
            "{" + members.map { Self.quoted($0.0) + ":" + $0.1.description }.joined(separator: ",")
                + "}"
        case .array(let items): "[" + items.map(\.description).joined(separator: ",") + "]"
        case .string(let text): Self.quoted(text)
        case .number(let value): String(value)
        case .decimal(let text): text
        case .flag(let value): value ? "true" : "false"
        case .null: "null"
        }
    }

    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case _ where scalar.value < 0x20 || scalar.value == 0x7f:
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
