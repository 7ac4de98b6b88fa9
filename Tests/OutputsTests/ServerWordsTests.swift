import Testing

@testable import Outputs

@Suite struct ServerWordsTests {
    @Test(arguments: [
        (#"{"error":"no such thing"}"#, "no such thing"),
        (#"{"code":"invalid","message":"a \"b\"\nc"}"#, "a \"b\" c"),
        (#"{"results":[{"statement_id":0,"error":"not found: x"}]}"#, "not found: x"),
        ("out of order sample\nmore\n", "out of order sample"),
        (#"{"error":7,"message":"seven"}"#, "seven"),
        (#"{"error":"cut of"#, "cut of"),
    ])
    func isWhatTheServerSaid(_ body: String, _ words: String) {
        #expect(ServerWords.text(of: Array(body.utf8)) == words)
    }

    @Test(arguments: ["", "<html><body>Hello", "{}", "{\"error\"", "  \n", "{\"ok\":true}"])
    func isNothingWhereItSaidNothing(_ body: String) {
        #expect(ServerWords.text(of: Array(body.utf8)) == nil)
    }

    @Test func isFitForALog() throws {
        let body = Array("\u{1b}[31mred\u{7}\u{202e}".utf8) + [0xff, 0xfe]
        let words = try #require(ServerWords.text(of: body))
        #expect(words.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control })
        let long = try #require(ServerWords.text(of: Array(repeating: 0x61, count: 100_000)))
        #expect(long.count == ServerWords.charactersMax)
    }
}
