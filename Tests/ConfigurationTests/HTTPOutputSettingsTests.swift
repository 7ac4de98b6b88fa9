import Testing

@testable import CollectorConfiguration
@testable import Configuration

struct HTTPOutputSettingsTests {
    private func influx(_ text: String) throws -> (settings: InfluxSettings, told: MistakeList) {
        let mistakes = MistakeList(file: "f")
        let node = try YAMLNode.parse(Array(text.utf8), file: "f")
        return (InfluxSettings(Section(node, InfluxSettings.table, mistakes)), mistakes)
    }

    private func remoteWrite(
        _ text: String
    ) throws -> (settings: RemoteWriteSettings, told: MistakeList) {
        let mistakes = MistakeList(file: "f")
        let node = try YAMLNode.parse(Array(text.utf8), file: "f")
        return (RemoteWriteSettings(Section(node, RemoteWriteSettings.table, mistakes)), mistakes)
    }

    @Test func aDatabaseOfVersion1() throws {
        let (settings, told) = try influx(
            "{url: 'http://127.0.0.1:8086/', database: d, user: u, password-file: /p}")
        #expect(told.mistakes.isEmpty && told.warnings.isEmpty)
        #expect(settings.server.address?.text == "http://127.0.0.1:8086")
        #expect(settings.server.address?.target == "127.0.0.1:8086")
        #expect(settings.server.login == .password(user: "u", .file("/p")))
        #expect(settings.place == .database("d", policy: ""))
        #expect(settings.measurement == "reading")
        #expect(settings.server.timeLimit == .seconds(10))
    }

    @Test func aBucketOfVersion2() throws {
        let (settings, told) = try influx(
            "{url: 'https://[fd00::1]', bucket: b, org: o, token-file: /t, tls: {ca: /ca.pem}}")
        #expect(told.mistakes.isEmpty)
        #expect(settings.server.address?.target == "[fd00::1]:443")
        #expect(settings.place == .bucket("b", organisation: "o"))
        #expect(settings.server.login == .token(.file("/t")))
        #expect(settings.server.tls.authority == "/ca.pem")
        #expect(settings.server.tls.isOn && settings.server.tls.isVerified)
    }

    @Test(
        arguments: [
            ("{database: d}", "needs the key url"),
            ("{url: 'ftp://h', database: d}", "must begin with http://"),
            ("{url: 'http://u:p@h', database: d}", "use the keys user and password-file"),
            ("{url: 'http://', database: d}", "no host"),
            ("{url: 'http://h:0', database: d}", "port"),
            ("{url: 'http://h:x', database: d}", "port"),
            ("{url: 'http://fd00::1:80', database: d}", "IPv6"),
            ("{url: 'http://h/a b', database: d}", "%20"),
            ("{url: 'http://h?a=b', database: d}", "has a ?"),
            ("{url: 'http://h'}", "needs database"),
            ("{url: 'http://h', database: d, bucket: b, org: o}", "needs database"),
            ("{url: 'http://h', bucket: b}", "bucket and org"),
            ("{url: 'http://h', database: d, user: u}", "either user and password-file"),
            ("{url: 'http://h', database: d, token: t}", "has no tokens"),
            ("{url: 'http://h', bucket: b, org: o, user: u, password: p}", "use token-file"),
            ("{url: 'http://h', database: d, measurement: 'a\\'}", "measurement ends"),
            ("{url: 'http://h', database: d, measurement: '#a'}", "begins with #"),
            ("{url: 'http://h', database: d, tls: {ca: /c}}", "tls has no use"),
            ("{url: 'http://h', database: d, timeout: 0}", "timeout"),
            ("{url: 'http://h', bucket: b, org: o, retention-policy: r}", "leave it out"),
            ("{url: 'http://h', databas: d}", "did you mean database?"),
        ] as [(String, String)])
    func mistakes(_ text: String, _ expected: String) throws {
        let told = try influx(text).told.mistakes
        #expect(told.contains { $0.message.contains(expected) }, "\(told)")
    }

    @Test(
        arguments: [
            ("{url: 'http://h/api/v1/write', user: u, password-file: /p}", "for all to read"),
            ("{url: 'https://h/w', token: geheim}", "use token-file"),
            ("{url: 'https://h/w', tls: {verify: false}}", "verify: false lets"),
        ] as [(String, String)])
    func warnings(_ text: String, _ expected: String) throws {
        let (_, told) = try remoteWrite(text)
        #expect(told.mistakes.isEmpty)
        #expect(told.warnings.contains { $0.message.contains(expected) }, "\(told.warnings)")
        #expect(!told.warnings.contains { $0.message.contains("geheim") })
    }

    @Test func remoteWriteMayHaveAQuery() throws {
        let (settings, told) = try remoteWrite("{url: 'https://h:9090/api/v1/write?tenant=a'}")
        #expect(told.mistakes.isEmpty)
        #expect(settings.server.address?.text == "https://h:9090/api/v1/write?tenant=a")
    }
}
