import Testing

@testable import Outputs

@Suite struct HTTPTests {
    @Test func parametersAreEscaped() {
        let request = HTTPRequest(
            path: "/w", query: [.init("a", "ä &=%+"), .init("b", "~-._")], contentType: "t",
            body: [])
        #expect(request.target == "/w?a=%C3%A4%20%26%3D%25%2B&b=~-._")
        #expect(HTTPRequest(contentType: "t", body: []).target.isEmpty)
    }

    @Test(arguments: [
        (302, OutputFault.Kind.unsuitable), (407, .refused), (429, .unavailable),
        (503, .unavailable), (0, .unsuitable), (700, .unsuitable),
    ])
    func someAnswersMeanTheSameEverywhere(_ status: Int, _ kind: OutputFault.Kind) {
        #expect(HTTPFault.common(HTTPAnswer(status: status), at: "h:1")?.kind == kind)
    }

    @Test(arguments: [200, 204, 400, 401, 404, 413])
    func othersAreTheServers(_ status: Int) {
        #expect(HTTPFault.common(HTTPAnswer(status: status), at: "h:1") == nil)
    }

    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy"),
        ("me:the-secret", "bWU6dGhlLXNlY3JldA=="),
    ])
    func base64(_ text: String, _ encoded: String) { #expect(Base64.text(text.utf8) == encoded) }
}
