import NearbyCore
import Testing

@testable import Configuration

struct TrustSettingsTests {
    private let one = PeerID(high: 1, low: 2).description
    private let two = PeerID(high: 3, low: 4).description

    private func decode(_ text: String) -> Settings.Outcome {
        Settings.decode(Array(text.utf8), file: "f")
    }

    private func mistakes(_ text: String) -> [String] { Sample.texts(decode(text)) }

    @Test func pinnedPeersNeedNoSecretUnlessOneIsGiven() throws {
        let alone = try #require(decode("trust: {pinned: [\(one), \(two)]}").settings)
        #expect(alone.trust.kind == .pinned && alone.trust.isByKey)
        #expect(alone.trust.peers.map(\.description) == [one, two])
        #expect(alone.secrets == [] && alone.secretFile == nil)
        let both = decode("trust:\n  pinned:\n    - \(one)\nsecret: \(Sample.secret)").settings
        #expect(both?.secrets == [Sample.bytes])
    }

    @Test func authorityHasFilesWithDefaults() throws {
        let text = "state: /var/lib/x\ntrust:\n  authority: /etc/a.pem\n"
        let trust = try #require(decode(text).settings).trust
        #expect(trust.kind == .authority && trust.isByKey)
        #expect(trust.authority == "/etc/a.pem")
        #expect(trust.certificate == "/var/lib/x/certificate.pem")
        #expect(trust.key == nil)
        #expect(trust.mark == Mark(line: 3, column: 3))
        let all = try #require(
            decode("trust: {authority: /a, certificate: /b, key: /c}\nsecret: \(Sample.secret)")
                .settings)
        #expect(all.trust.certificate == "/b" && all.trust.key == "/c")
        #expect(all.secrets == [Sample.bytes])
    }

    @Test func theWordsStayAsTheyWere() {
        #expect(decode("trust: any").settings?.trust.kind == .anybody)
        for text in ["trust: secret\n", ""] {
            #expect(decode(text + "secret: \(Sample.secret)").settings?.trust.kind == .secret)
        }
    }

    @Test func everyMistakeIsNamedWithItsPlace() {
        let peer = "a PeerID as `rivulet identity` shows it"
        let form = "1:8: trust must be a mapping of keys to values, or secret or any"
        for (text, message) in [
            ("trust: pinned", form), ("trust: nobody", form), ("trust: [\(one)]", form),
            ("trust: {}", "1:8: trust must have one of the keys pinned and authority"),
            (
                "trust: {pinned: [\(one)], authority: /a}",
                "1:\(32 + one.count): trust must have exactly one of the keys pinned and "
                    + "authority; it has pinned and authority"
            ),
            ("trust: {pinned: []}", "1:17: pinned is empty: nobody would be let in"),
            (
                "trust: {pinned: [\(one), bench]}",
                "1:\(20 + one.count): pinned has 'bench'; it must be \(peer)"
            ),
            (
                "trust: {pinned: \(one)}",
                "1:17: pinned must be a list of at most 1024, each \(peer)"
            ),
            (
                "trust: {pinned: [\(one)], key: /k}",
                "1:\(26 + one.count): key has no use without authority; leave it out"
            ),
            ("trust: {authority: [a]}", "1:20: authority must be a path of at most 4095 bytes"),
            (
                "trust: {authority: /a, certifcate: /b}",
                "1:24: unknown key certifcate in trust; did you mean certificate?"
            ),
        ] {
            #expect(mistakes(text) == [message], "\(text)")
        }
    }
}
