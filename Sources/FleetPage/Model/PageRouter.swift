import CollectorConfiguration
import Configuration
import NearbyCore

/// Who may ask, and for what.
struct PageRouter {
    private let hosts: HostCheck
    private let hasMetrics: Bool
    private var logins: LoginGuard

    /// - Parameter names: of this machine.
    init(_ settings: WebSettings, names: [String]) {
        hosts = HostCheck(names: settings.hosts + names)
        hasMetrics = settings.metrics
        logins = LoginGuard(settings.login)
    }

    mutating func answer(_ request: PageRequest, now: Instant) -> PageAnswer {
        guard request.method == "GET" || request.method == "HEAD" else {
            var refusal = PageResponse(405, "only GET and HEAD are allowed")
            refusal.headers.append(("Allow", "GET, HEAD"))
            return .response(refusal)
        }
        guard hosts.allows(request.host) else {
            return .response(
                PageResponse(
                    421,
                    "the page is not served under that name; whoever runs the collector can add it "
                        + "to `hosts` of `web`"))
        }
        switch logins.judge(request.login, from: request.source, now: now) {
        case .welcome: break
        case .wrong: return .response(Self.challenge)
        case .tooOften(let seconds):
            var refusal = PageResponse(429, "too many wrong passwords; wait a moment")
            refusal.headers.append(("Retry-After", String(seconds)))
            return .response(refusal)
        }
        // Following a link from elsewhere to the page is fine; foreign pages that load from it not.
        if request.site == "cross-site", request.path != "/" {
            return .response(PageResponse(403, "not for other sites"))
        }
        return Self.answer(request, hasMetrics: hasMetrics)
    }

    private static var challenge: PageResponse {
        var challenge = PageResponse(401, "a password is needed")
        challenge.headers.append(
            ("WWW-Authenticate", "Basic realm=\"Rivulet\", charset=\"UTF-8\""))
        return challenge
    }

    private static func answer(_ request: PageRequest, hasMetrics: Bool) -> PageAnswer {
        switch request.path {
        case "/metrics" where hasMetrics:
            let openMetrics = request.accept?.contains("application/openmetrics-text") == true
            return .snapshot(.metrics(openMetrics: openMetrics))
        case "/export.csv": return export(request)
        case "/api/events": return .events
        case "/api/fleet": return .snapshot(.fleet)
        case "/api/chart": return chart(request)
        case "/api/lines": return lines(request)
        case "/api/gaps": return gaps(request)
        case "/api/mesh": return mesh(request)
        default:
            return .response(
                PageFiles.response(request.path) ?? PageResponse(404, "there is nothing here"))
        }
    }

    // MARK: Questions to the store

    private static func mesh(_ request: PageRequest) -> PageAnswer {
        guard let text = request.query["at"] else { return .snapshot(.fleet) }
        guard let time = Int64(text), let range = TimeRange(from: "0", to: String(time)) else {
            return .response(PageResponse(400, "at is a time in milliseconds since 1970"))
        }
        return .query(.mesh(range.to))
    }

    private static func gaps(_ request: PageRequest) -> PageAnswer {
        guard let node = request.query["node"] else { return .query(.gaps(nil)) }
        guard let peer = PeerID(text: node) else { return .response(badQuery) }
        return .query(.gaps(peer))
    }

    private static func chart(_ request: PageRequest) -> PageAnswer {
        guard let peer = request.query["node"].flatMap(PeerID.init(text:)),
            let channel = request.query["channel"], !channel.isEmpty, channel.utf8.count <= 63,
            let range = TimeRange(from: request.query["from"], to: request.query["to"])
        else { return .response(badQuery) }
        let points = request.query["points"].flatMap { Int($0) } ?? 500
        let query = ChartQuery(
            peer: peer, channel: channel, range: range,
            points: min(max(points, 2), Limits.chartPoints))
        return .query(.chart(query))
    }

    private static func lines(_ request: PageRequest) -> PageAnswer {
        guard let peer = request.query["node"].flatMap(PeerID.init(text:)),
            let range = TimeRange(from: request.query["from"], to: request.query["to"]),
            range.length <= 86_400_000_000_000
        else { return .response(badQuery) }
        return .query(.lines(LinesQuery(peer: peer, range: range)))
    }

    private static func export(_ request: PageRequest) -> PageAnswer {
        guard let peer = request.query["node"].flatMap(PeerID.init(text:)),
            let range = TimeRange(from: request.query["from"], to: request.query["to"])
        else { return .response(badQuery) }
        let channels = request.query["channel"].map { [$0] } ?? []
        return .export(ExportQuery(peer: peer, channels: channels, range: range))
    }

    private static var badQuery: PageResponse {
        PageResponse(
            400,
            "bad request: node is a PeerID, channel a name of at most 63 bytes, from and to are "
                + "milliseconds since 1970")
    }
}

extension Limits {
    /// Points of one chart.
    static let chartPoints = 2_000
    /// Points of a small line.
    static let linePoints = 60
}
