import NearbyCore
import Telemetry
import Testing

@testable import Outputs

struct NATSTests {
    private let subjects = NATSSubject(prefix: "rivulet", network: "farm")

    @Test func subjectsNameNetworkNodeAndChannel() {
        #expect(subjects.subject(of: Batches.series()) == "rivulet.farm.shed.temperature")
        #expect(subjects.all == "rivulet.farm.>")
    }

    @Test(
        arguments: [
            ("a.b", "a%2Eb"), ("*", "%2A"), (">", "%3E"), ("a b", "a%20b"), ("%2E", "%252E"),
            ("", "%"), ("\t\r\n\0", "%09%0D%0A%00"), ("Küche", "Küche"), ("a\u{a0}b", "a%C2%A0b"),
            ("$SYS", "$SYS"), ("\u{7f}", "%7F"),
        ])
    func foreignTextIsOneWord(_ text: String, _ token: String) {
        #expect(NATSSubject.token(text) == token)
    }

    @Test(
        arguments: [
            ("rivulet.>", "rivulet.farm.>", true), (">", "rivulet.farm.>", true),
            ("rivulet.*.>", "rivulet.farm.>", true), ("rivulet.farm.>", "rivulet.farm.>", true),
            ("rivulet.*", "rivulet.farm.>", false), ("rivulet.*.*", "rivulet.farm.>", false),
            ("rivulet.farm.shed.>", "rivulet.farm.>", false), ("other.>", "rivulet.farm.>", false),
            ("rivulet.farm", "rivulet.farm.>", false), ("a.*", "a.b", true), ("a", "a.b", false),
            ("a.b.>", "a.b", false),
        ])
    func aStreamListensOrNot(_ filter: String, _ subject: String, _ covers: Bool) {
        #expect(NATSSubject.covers(filter, subject) == covers)
    }

    @Test func aMessageIsAReadingWithItsKey() {
        let batch = Batches.batch(
            [Batches.series(labels: [Label(key: "s", value: "\"")])], [Batches.reading(7)])
        let message = NATSMessage.messages(batch, subjects)[0]
        #expect(message.id == "\(Batches.peer)-\(Batches.run)-7")
        #expect(message.subject == "rivulet.farm.shed.temperature")
        #expect(
            String(decoding: message.payload, as: UTF8.self)
                == #"{"time":"2023-11-14T22:13:20.123Z","peer":"\#(Batches.peer)","#
                + #""run":"\#(Batches.run)","node":"shed","labels":{"s":"\""},"#
                + #""channel":"temperature","unit":"Cel","sequence":7,"value":21.50,"#
                + #""reason":null,"hops":2}"#)
    }

    /// Otherwise the servers would drop it as one that they know.
    @Test func aCorrectedReadingIsAnotherMessage() {
        var batch = Batches.batch([Batches.series()], [Batches.reading(7, utc: 99)])
        let first = NATSMessage.messages(batch, subjects)[0].id
        batch.isCorrection = true
        let corrected = NATSMessage.messages(batch, subjects)[0].id
        #expect(corrected == first + "-99")
    }

    @Test func numbersThatParsersWouldRoundAreText() {
        let reading = Batches.reading(
            1 << 53, utc: 0, .value(DecimalValue(coefficient: .max, exponent: -2)))
        let text = String(decoding: ReadingJSON.text(reading, of: Batches.series()), as: UTF8.self)
        #expect(text.contains(#""sequence":"9007199254740992""#))
        #expect(text.contains(#""value":"92233720368547758.07""#))
        #expect(text.hasPrefix(#"{"time":"1970-01-01T00:00:00Z""#))
    }

    private func stream(_ change: (inout NATSStream) -> Void) -> NATSStream {
        var stream = NATSStream(
            name: "RIVULET", subjects: ["rivulet.>"], duplicates: 120_000_000_000, isSilent: false,
            isSealed: false, isMirror: false)
        change(&stream)
        return stream
    }

    @Test func aStreamThatCannotServeIsNamed() {
        let subject = "rivulet.farm.>"
        #expect(stream { _ in }.defect(for: subject) == nil)
        #expect(stream { $0.isMirror = true }.defect(for: subject)?.contains("mirror") == true)
        #expect(stream { $0.isSealed = true }.defect(for: subject)?.contains("sealed") == true)
        #expect(stream { $0.isSilent = true }.defect(for: subject)?.contains("--ack") == true)
        let short = stream { $0.duplicates = 119_000_000_000 }
        #expect(short.defect(for: subject)?.contains("119 s") == true)
        let other = stream { $0.subjects = ["a", "b.*"] }
        #expect(other.defect(for: subject)?.contains("only to a, b.*") == true)
    }

    @Test(
        arguments: [
            ("Authorization Violation", OutputFault.Kind.refused, "password-file"),
            ("SSL handshake error: 10:certificate has expired", .refused, "its date"),
            ("Secure Connection not available", .refused, "tls: off"),
            ("No server available for connection", .unavailable, ""),
        ])
    func aFailedConnectionHasAMeaning(
        _ words: String, _ kind: OutputFault.Kind, _ advice: String
    ) {
        let meaning = NATSErrorCode.meaning(ofWords: words)
        #expect(meaning.kind == kind)
        #expect(advice.isEmpty ? meaning.advice.isEmpty : meaning.advice.contains(advice))
    }

    @Test(
        arguments: [
            ("(conn.c:1905): Authorization Violation", "Authorization Violation"),
            ("(opts.c:380): Error '/x': (null)", "Error '/x'"), ("plain\u{1b}", "plain "), ("", ""),
        ])
    func theLibrarysWordsLoseTheirSource(_ words: String, _ shown: String) {
        #expect(NATSErrorCode.withoutSourceLine(words) == shown)
    }
}
