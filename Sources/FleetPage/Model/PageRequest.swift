/// What a browser asks, as far as it matters here.
struct PageRequest: Equatable {
    var method = "GET"
    var path: String
    /// Decoded; the first of each name.
    var query: [String: String] = [:]
    /// `Host`, as it was sent.
    var host: String?
    var accept: String?
    /// `Sec-Fetch-Site`.
    var site: String?
    var login: Login?
    /// Whom failed logins are counted for: an address, of IPv6 its first 64 bits.
    var source = ""

    struct Login: Equatable {
        var user: String
        var password: String
    }
}

/// What is sent back at once.
struct PageResponse: Equatable {
    var status: UInt32 = 200
    var type = "text/plain; charset=utf-8"
    var headers: [(name: String, value: String)] = []
    var body: [UInt8]

    init(status: UInt32 = 200, type: String, _ body: [UInt8]) {
        self.status = status
        self.type = type
        self.body = body
    }

    /// A line of text that says what is wrong.
    init(_ status: UInt32, _ text: String) {
        self.status = status
        body = Array((text + "\n").utf8)
    }

    static func json(_ body: [UInt8]) -> PageResponse {
        PageResponse(type: "application/json", body)
    }

    static func == (left: PageResponse, right: PageResponse) -> Bool {
        left.status == right.status && left.type == right.type && left.body == right.body
            && left.headers.elementsEqual(right.headers, by: ==)
    }
}

/// What comes of a request.
enum PageAnswer: Equatable {
    case response(PageResponse)
    /// Something to read from the store, by somebody who may wait for it.
    case query(PageQuery)
    /// All readings of some channels, as they are read.
    case export(ExportQuery)
    /// The newest, as it comes.
    case events
    /// The newest snapshot, whole.
    case snapshot(SnapshotForm)
}

/// What a snapshot is shown as.
enum SnapshotForm: Hashable {
    case fleet
    case metrics(openMetrics: Bool)
}

extension PageResponse {
    /// Of every response: nothing from elsewhere is loaded, nothing is kept, nobody frames it.
    static let alwaysHeaders: [(name: String, value: String)] = [
        (
            "Content-Security-Policy",
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
                + "connect-src 'self'; base-uri 'none'; form-action 'none'; "
                + "frame-ancestors 'none'; require-trusted-types-for 'script'"
        ),
        ("X-Content-Type-Options", "nosniff"), ("X-Frame-Options", "DENY"),
        ("Referrer-Policy", "no-referrer"), ("Cache-Control", "no-store"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
        ("Cross-Origin-Opener-Policy", "same-origin"),
    ]
}
