/// What is sent to a server by POST.
public struct HTTPRequest: Hashable, Sendable {
    /// Behind the server's address; begins with `/`, or is empty.
    public var path: String
    /// In their order; not encoded yet.
    public var query: [Parameter]
    public var contentType: String
    /// Lines such as `Content-Encoding: snappy`.
    public var headers: [String] = []
    public var body: [UInt8]

    public struct Parameter: Hashable, Sendable {
        public var name: String
        public var value: String

        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    public init(
        path: String = "", query: [Parameter] = [], contentType: String, headers: [String] = [],
        body: [UInt8]
    ) {
        self.path = path
        self.query = query
        self.contentType = contentType
        self.headers = headers
        self.body = body
    }

    /// Parameters as the body of a form (WHATWG URL §5.2, with `%20` for a space).
    public static func form(path: String, _ parameters: [Parameter]) -> HTTPRequest {
        HTTPRequest(
            path: path, contentType: "application/x-www-form-urlencoded",
            body: Array(encoded(parameters).utf8))
    }

    /// Path and query, as they stand behind the server's address.
    public var target: String {
        query.isEmpty ? path : path + "?" + Self.encoded(query)
    }

    private static func encoded(_ parameters: [Parameter]) -> String {
        parameters.map { escaped($0.name) + "=" + escaped($0.value) }.joined(separator: "&")
    }

    /// All but RFC 3986's unreserved characters as `%` and two digits.
    private static func escaped(_ text: String) -> String {
        var result = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "~"):
                result.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                result += "%" + (digits.utf8.count == 1 ? "0" : "") + digits
            }
        }
        return result
    }
}

/// What a server answered.
public struct HTTPAnswer: Hashable, Sendable {
    public var status: Int
    /// At most 64 KiB of it.
    public var body: [UInt8]
    /// How long to leave it alone, if it said so.
    public var retryAfter: Duration?

    public init(status: Int, body: [UInt8] = [], retryAfter: Duration? = nil) {
        self.status = status
        self.body = body
        self.retryAfter = retryAfter
    }

    public var isSuccess: Bool { (200..<300).contains(status) }
}
