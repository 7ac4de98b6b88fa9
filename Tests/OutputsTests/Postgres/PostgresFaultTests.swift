import Testing

@testable import Outputs

struct PostgresFaultTests {
    private func fault(_ state: String?, _ message: String = "m") -> OutputFault {
        PostgresFault.fault(state: state, message: message, place: "p")
    }

    @Test(
        arguments: [
            ("28P01", OutputFault.Kind.refused, "password-file"), ("3D000", .refused, "createdb"),
            ("42501", .refused, "CREATE"), ("25006", .refused, "standby"),
            ("53100", .unavailable, "disk is full"), ("57014", .unavailable, "lock"),
            ("40P01", .unavailable, ""), ("57P03", .unavailable, ""),
            ("42P01", .unsuitable, "schema"),
            ("22003", .refused, "22003"),
        ])
    func codesHaveMeanings(_ state: String, _ kind: OutputFault.Kind, _ word: String) {
        let fault = fault(state)
        #expect(fault.kind == kind)
        #expect(word.isEmpty || fault.description.contains(word), "\(fault)")
    }

    @Test(
        arguments: [
            ("fe_sendauth: no password supplied", OutputFault.Kind.refused),
            ("SSL error: certificate verify failed", .refused),
            ("server does not support SSL, but SSL was required", .refused),
            ("Connection refused", .unavailable), ("server closed the connection", .unavailable),
        ])
    func theLibrarysOwnWordsToo(_ words: String, _ kind: OutputFault.Kind) {
        #expect(fault(nil, words).kind == kind)
    }

    @Test func aFailedConnectionTellsItsCode() {
        let message = """
            connection to server at "10.0.0.2", port 5432 failed: FATAL:  28P01: password \
            authentication failed for user "u"
            LOCATION:  auth_failed, auth.c:326

            """
        let (state, words) = PostgresFault.splitting(message)
        #expect(state == "28P01")
        let shown = PostgresFault.printable(words)
        #expect(shown == "FATAL:  password authentication failed for user \"u\"")
    }

    @Test(arguments: ["", "FATAL:  ", "FATAL:  ab: c", "FATAL:  28P0", "FATAL:  äöüßé: x"])
    func wordsWithoutACodeStay(_ message: String) {
        let (state, words) = PostgresFault.splitting(message)
        #expect(state == nil && words == message)
    }

    @Test func wordsOfTheServerAreOneLineOfText() {
        let shown = PostgresFault.printable(
            "a\u{1b}[31m\nb\u{7}" + String(repeating: "x", count: 900))
        #expect(shown.hasPrefix("a [31m b x"))
        #expect(shown.count == 300)
    }

    /// What is told once must not differ.
    @Test func aFullDiskIsOneFault() {
        let files = ["base/1/1249", "base/1/2673"].map { "could not extend \($0): No space" }
        #expect(fault("53100", files[0]) == fault("53100", files[1]))
    }

    @Test func aNewerSchemaIsSaid() {
        let fault = PostgresFault.newer(9, place: "p")
        #expect(fault.kind == .unsuitable)
        #expect(fault.description.contains("version 9"))
    }
}
