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
        guard case .pinned(let peers) = alone.trust else { Issue.record("\(alone.trust)"); return }
        #expect(peers.map(\.description) == [one, two])
        #expect(alone.secrets == [] && alone.secretFile == nil && alone.trust.isByKey)
        let both = decode("trust:\n  pinned:\n    - \(one)\nsecret: \(Sample.secret)").settings
        #expect(both?.secrets == [Sample.bytes])
    }

    @Test func authorityHasFilesWithDefaults() throws {
        let text = "state: /var/lib/x\ntrust:\n  authority: /etc/a.pem\n"
        let settings = try #require(decode(text).settings)
        guard case .authority(let files) = settings.trust else { Issue.record("none"); return }
        #expect(files.anchors == "/etc/a.pem")
        #expect(files.certificate == "/var/lib/x/certificate.pem")
        #expect(files.key == nil)
        #expect(files.mark == Mark(line: 3, column: 14) && files.certificateMark == files.mark)
        #expect(settings.secrets == [])
        let all = try #require(
            decode("trust: {authority: /a, certificate: /b, key: /c}\nsecret: \(Sample.secret)")
                .settings)
        guard case .authority(let named) = all.trust else { Issue.record("none"); return }
        #expect((named.certificate, named.key) == ("/b", "/c"))
        #expect(named.certificateMark == Mark(line: 1, column: 37))
        #expect(all.secrets == [Sample.bytes])
    }

    @Test func theWordsStayAsTheyWere() throws {
        guard case .anybody? = decode("trust: any").settings?.trust,
            case .secret? = decode("trust: secret\nsecret: \(Sample.secret)").settings?.trust,
            case .secret? = decode("secret: \(Sample.secret)").settings?.trust
        else { Issue.record("not as written"); return }
    }

    @Test func everyMistakeIsNamedWithItsPlace() {
        let peer = "a PeerID as `rivulet identity` shows it"
        for (text, messages) in [
            ("trust: pinned", ["1:8: trust: pinned wants more: `trust: {pinned: [PEERID, …]}`"]),
            (
                "trust: authority",
                [
                    "1:8: trust: authority wants more: "
                        + "`trust: {authority: /etc/rivulet/authority.pem}`"
                ]
            ),
            (
                "trust: nobody\nsecret: \(Sample.secret)",
                [
                    "1:8: trust is 'nobody'; it must be a mapping of keys to values, or secret "
                        + "or any"
                ]
            ),
            (
                "trust: [\(one)]\nsecret: \(Sample.secret)",
                ["1:8: trust must be a mapping of keys to values, or secret or any"]
            ),
            (
                "trust: {}\nsecret: \(Sample.secret)",
                ["1:8: trust needs pinned or authority, or the word secret or any"]
            ),
            (
                "trust: {pinned: []}",
                ["1:17: pinned is empty: nobody would be let in; name one at least"]
            ),
            (
                "trust: {pinned: [\(one), bench]}",
                ["1:\(21 + one.count - 1): pinned has 'bench'; it must be \(peer)"]
            ),
            (
                "trust: {pinned: \(one)}",
                ["1:17: pinned must be a list of at most 1024, each \(peer)"]
            ),
            (
                "trust: {pinned: [\(one)], key: /k}",
                ["1:\(26 + one.count): key has no use without `authority`; leave it out"]
            ),
            (
                "trust: {pinned: [\(one)], authority: /a}",
                [
                    "1:\(32 + one.count): pinned and authority are both given; leave one out"
                ]
            ),
            (
                "trust: {authority: [a]}\nsecret: \(Sample.secret)",
                ["1:20: authority must be a path of at most 4095 bytes"]
            ),
            (
                "trust: {authority: /a, certifcate: /b}",
                ["1:24: unknown key certifcate in trust; did you mean certificate?"]
            ),
            (
                "trust: {pinned: [\(one)]}\ncollectors: [\(two)]",
                ["2:13: collectors names \(two), which `trust: pinned` does not list"]
            ),
        ] {
            #expect(mistakes(text) == messages, "\(text)")
        }
    }
}
