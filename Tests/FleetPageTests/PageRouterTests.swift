import CollectorConfiguration
import NearbyCore
import Testing

@testable import FleetPage

struct PageRouterTests {
    private let peer = PeerID(high: 7, low: 9)

    private func router(_ lines: String = "port: 8080") throws -> Held<PageRouter> {
        Held(PageRouter(try #require(webSettings(lines)), names: ["barn"]))
    }

    private func get(_ path: String, _ query: [String: String] = [:]) -> PageRequest {
        var request = PageRequest(path: path)
        request.host = "localhost:8080"
        request.query = query
        return request
    }

    private func status(_ answer: PageAnswer) -> UInt32? {
        if case .response(let response) = answer { return response.status }
        return nil
    }

    @Test func pathsLeadToTheirAnswers() throws {
        let router = try router()
        #expect(router.answer(get("/api/fleet")) == .snapshot(.fleet))
        #expect(router.answer(get("/api/events")) == .events)
        #expect(router.answer(get("/api/mesh")) == .snapshot(.fleet))
        #expect(
            router.answer(get("/api/mesh", ["at": "5000"]))
                == .query(.mesh(5_000_000_000)))
        #expect(router.answer(get("/api/gaps")) == .query(.gaps(nil)))
        #expect(status(router.answer(get("/api/gaps", ["node": "' OR 1=1--"]))) == 400)
        #expect(router.answer(get("/metrics")) == .snapshot(.metrics(openMetrics: false)))
        #expect(status(router.answer(get("/"))) == 200)
        #expect(status(router.answer(get("/page.js"))) == 200)
        #expect(status(router.answer(get("/../etc/passwd"))) == 404)
    }

    @Test func everyFileThatThePageNamesIsServed() throws {
        let router = try router()
        for (path, body) in [
            ("/", PackageResources.page_html), ("/page.js", PackageResources.page_js),
        ] {
            #expect(status(router.answer(get(path))) == 200)
            for part in text(body).split(separator: "\"")
            where part.hasPrefix("/") && [".js", ".css", ".svg"].contains(where: part.hasSuffix) {
                #expect(status(router.answer(get(String(part)))) == 200, "\(part)")
            }
        }
    }

    @Test func metricsCanBeSwitchedOff() throws {
        let router = try router("metrics: false")
        #expect(status(router.answer(get("/metrics"))) == 404)
    }

    @Test func onlyReadingIsAllowed() throws {
        let router = try router()
        for method in ["POST", "PUT", "DELETE", "OPTIONS", "TRACE"] {
            var request = get("/")
            request.method = method
            #expect(status(router.answer(request)) == 405)
        }
    }

    @Test func foreignHostsAndSitesAreRefused() throws {
        let router = try router("hosts: [weather.example.org]")
        var request = get("/api/fleet")
        for host in ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "", "a:b"]
        {
            request.host = host
            #expect(status(router.answer(request)) == 421, "\(host)")
        }
        request.host = nil
        #expect(status(router.answer(request)) == 421)
        let good = [
            "localhost", "127.0.0.1:8080", "[::1]:8080", "192.168.1.4", "barn", "BARN.local:80",
            "Weather.example.org.",
        ]
        for host in good {
            request.host = host
            #expect(router.answer(request) == .snapshot(.fleet), "\(host)")
        }
        request.site = "cross-site"
        #expect(status(router.answer(request)) == 403)
        request.path = "/"
        #expect(status(router.answer(request)) == 200)
    }

    @Test func chartsAskForNoMorePointsThanThereMayBe() throws {
        let router = try router()
        let wanted = [
            "node": peer.description, "channel": "air*", "from": "1000", "to": "61000",
            "points": "99999999",
        ]
        let chart = ChartQuery(
            peer: peer, channel: "air*",
            range: TimeRange(from: 1_000_000_000, to: 61_000_000_000), points: 2_000)
        #expect(router.answer(get("/api/chart", wanted)) == .query(.chart(chart)))
    }

    @Test(arguments: [
        ["node": "x"], ["channel": ""], ["from": "-1"], ["from": "61000"], ["to": "nan"],
        ["to": "99999999999999999999"], ["to": "9223372036854775807"],
        ["channel": String(repeating: "a", count: 64)],
    ])
    func wrongQuestionsAreRefused(_ changes: [String: String]) throws {
        let router = try router()
        var query = ["node": peer.description, "channel": "air", "from": "1000", "to": "61000"]
        query.merge(changes) { $1 }
        #expect(status(router.answer(get("/api/chart", query))) == 400)
    }

    @Test func aPasswordIsAskedFor() throws {
        let router = try router("user: me, password: open sesame")
        var request = get("/api/fleet")
        #expect(status(router.answer(request)) == 401)
        request.login = .init(user: "me", password: "open sesame!")
        #expect(status(router.answer(request)) == 401)
        request.login = .init(user: "you", password: "open sesame")
        #expect(status(router.answer(request)) == 401)
        request.login = .init(user: "me", password: "open sesame")
        #expect(router.answer(request) == .snapshot(.fleet))
    }
}

struct LoginGuardTests {
    private func login() throws -> WebSettings.Login {
        try #require(webSettings("password: open sesame")?.login)
    }

    private let wrong = PageRequest.Login(user: "rivulet", password: "x")
    private let right = PageRequest.Login(user: "rivulet", password: "open sesame")

    @Test func guessingIsSlowedAndOthersAreNot() throws {
        let guarded = Held(LoginGuard(try login()))
        for _ in 0..<5 { #expect(guarded.judge(wrong, from: "a", now: at(0)) == .wrong) }
        #expect(guarded.judge(wrong, from: "a", now: at(1)) == .tooOften(seconds: 2))
        // Not even compared.
        #expect(guarded.judge(right, from: "a", now: at(1)) == .tooOften(seconds: 2))
        #expect(guarded.judge(right, from: "b", now: at(1)) == .welcome)
        #expect(guarded.judge(wrong, from: "a", now: at(2)) == .wrong)
        #expect(guarded.judge(right, from: "a", now: at(3)) == .tooOften(seconds: 2))
        #expect(guarded.judge(right, from: "a", now: at(4)) == .welcome)
    }

    @Test func askingWithoutAPasswordIsNoGuess() throws {
        let guarded = Held(LoginGuard(try login()))
        for _ in 0..<100 { #expect(guarded.judge(nil, from: "a", now: at(0)) == .wrong) }
        #expect(guarded.judge(right, from: "a", now: at(0)) == .welcome)
    }

    @Test func manyAddressesDoNotFillTheMemory() throws {
        let guarded = Held(LoginGuard(try login()))
        for number in 0..<2_000 {
            _ = guarded.judge(wrong, from: "\(number)", now: at(Int64(number)))
        }
        let count = Mirror(reflecting: guarded.value).children.first { $0.label == "sources" }
            .map { Mirror(reflecting: $0.value).children.count }
        #expect(count == LoginGuard.sourcesMax)
    }

    @Test func onlyEqualTextsAreEqual() {
        #expect(LoginGuard.isEqual("abc", "abc"))
        for other in ["", "ab", "abcabc", "abd", "abca"] {
            #expect(!LoginGuard.isEqual(other, "abc"), "\(other)")
            #expect(!LoginGuard.isEqual("abc", other), "\(other)")
        }
    }
}
