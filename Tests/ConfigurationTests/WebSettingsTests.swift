import Testing

@testable import CollectorConfiguration
@testable import Configuration

struct WebSettingsTests {
    private let folder = TemporaryFolder()

    private func outcome(_ web: String, role: String = "collector") -> CollectorSettings.Outcome {
        CollectorSettings.decode(
            Array("trust: any\nrole: \(role)\nweb: {\(web)}\n".utf8), file: "f")
    }

    private func decoded(_ web: String) -> WebSettings? {
        if case .good(let settings) = outcome(web) { return settings.web }
        return nil
    }

    private func warnings(_ web: String) -> [String] {
        if case .good(let settings) = outcome(web) { return settings.node.warnings.map(\.message) }
        return []
    }

    @Test func itIsOffUnlessAskedForAndForThisMachineAlone() throws {
        let text = Array("trust: any\nrole: collector\n".utf8)
        guard case .good(let settings) = CollectorSettings.decode(text, file: "f") else {
            Issue.record("not decoded")
            return
        }
        #expect(settings.web == nil)
        let web = try #require(decoded("port: 80"))
        #expect(web.port == 80)
        #expect(web.bind == "127.0.0.1")
        #expect(web.login == nil)
        #expect(web.tls == nil)
        #expect(web.metrics)
    }

    @Test(arguments: ["0.0.0.0", "'::'", "192.168.1.4", "fd00::1"])
    func othersNeedAPasswordOrAProxy(_ address: String) {
        let mistakes = Sample.texts(outcome("bind: \(address)").node)
        #expect(mistakes.contains { $0.contains("everybody who reaches") }, "\(mistakes)")
        #expect(decoded("bind: \(address), behind-proxy: true") != nil)
        let file = folder.write("password", "open sesame\n")
        #expect(
            decoded("bind: \(address), password-file: \(file)")?.login?.password == "open sesame")
        let warnings = warnings("bind: \(address), password-file: \(file)")
        #expect(warnings.contains { $0.contains("unencrypted") }, "\(warnings)")
    }

    @Test(arguments: ["127.0.0.1", "127.8.8.8", "'::1'"]) func loopbackNeedsNone(_ address: String)
    {
        #expect(decoded("bind: \(address)") != nil)
    }

    @Test func aPasswordComesFromAFileOfItsOwn() throws {
        let file = folder.write("password", "p ä:ss word\r\nsecond line")
        let web = try #require(decoded("user: me, password-file: \(file)"))
        #expect(web.login == .init(user: "me", password: "p ä:ss word"))
        #expect(warnings("password-file: \(file)").isEmpty)
        #expect(warnings("password: open sesame").contains { $0.contains("a file of its own") })
        let short = folder.write("short", "abc")
        #expect(warnings("password-file: \(short)").contains { $0.contains("soon guessed") })
    }

    @Test(arguments: [("", 0o600), ("\nsecond", 0o600), ("good password", 0o644)])
    func passwordFilesThatAreNoGood(_ text: String, _ mode: UInt32) {
        let file = folder.write("password", text, mode: mode)
        let mistakes = Sample.texts(outcome("password-file: \(file)").node)
        #expect(mistakes.count == 1, "\(mistakes)")
        #expect(mistakes.allSatisfy { !$0.contains("good password") })
    }

    @Test func keysOfTLSAreRead() throws {
        let certificate = folder.write("c.pem", "certificate", mode: 0o644)
        let key = folder.write("k.pem", "key")
        let web = try #require(decoded("certificate: \(certificate), key: \(key)"))
        #expect(web.tls == .init(certificate: Array("certificate".utf8), key: Array("key".utf8)))
        let open = folder.write("o.pem", "key", mode: 0o644)
        let mistakes = Sample.texts(outcome("certificate: \(certificate), key: \(open)").node)
        #expect(mistakes.contains { $0.contains("others can read it") }, "\(mistakes)")
    }

    @Test(
        arguments: [
            ("port: 0", "port is '0'"),
            ("port: 65536", "65536"),
            ("bind: localhost", "it must be an address"),
            ("bind: 127.0.0.1.5", "it must be an address"),
            ("password: a, password-file: /nothing", "both given"),
            ("user: me", "without password-file"),
            ("user: 'a:b', password: open sesame", "must not have a colon"),
            ("certificate: /nothing", "belong together"),
            ("password-file: /nothing/there", "password-file /nothing/there"),
            ("hosts: ['a b']", "a host name"),
            ("hosts: ['-a']", "a host name"),
            ("prot: 8080", "unknown key prot"),
        ] as [(String, String)])
    func mistakes(_ web: String, _ expected: String) {
        let mistakes = Sample.texts(outcome(web).node)
        #expect(mistakes.contains { $0.contains(expected) }, "\(mistakes)")
    }

    @Test(arguments: ["agent", "relay"]) func onlyCollectorsHaveAPage(_ role: String) {
        let mistakes = Sample.texts(outcome("port: 8080", role: role).node)
        #expect(mistakes.contains { $0.contains("collector's page") }, "\(mistakes)")
    }
}
