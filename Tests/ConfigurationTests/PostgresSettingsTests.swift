import Testing

@testable import CollectorConfiguration
@testable import Configuration

struct PostgresSettingsTests {
    private func postgres(
        _ text: String
    ) throws -> (settings: PostgresSettings, told: MistakeList) {
        let mistakes = MistakeList(file: "f")
        let node = try YAMLNode.parse(Array(text.utf8), file: "f")
        return (PostgresSettings(Section(node, PostgresSettings.table, mistakes)), mistakes)
    }

    @Test func aServerWithVerifiedEncryption() throws {
        let (settings, told) = try postgres("{host: db.example, password-file: /p}")
        #expect(told.mistakes.isEmpty && told.warnings.isEmpty)
        #expect(settings.place == .server(host: "db.example", port: 5_432))
        #expect(settings.database == "rivulet" && settings.user == "rivulet")
        #expect(settings.password == .file("/p"))
        #expect(settings.tls.isOn && settings.tls.isVerified)
        #expect(settings.schema == "rivulet" && settings.timeLimit == .seconds(10))
    }

    @Test(arguments: ["localhost", "127.0.0.1", "::1", "/run/postgresql"])
    func thisMachineNeedsNoEncryption(_ host: String) throws {
        #expect(try !postgres("{host: '\(host)'}").settings.tls.isOn)
        #expect(try postgres("{host: '\(host)', tls: on}").settings.tls.isOn)
    }

    @Test func aServiceSaysEverything() throws {
        let (settings, told) = try postgres("{service: farm, schema: s}")
        #expect(told.mistakes.isEmpty)
        #expect(settings.place == .service("farm"))
    }

    @Test(
        arguments: [
            ("{service: s, host: h}", "host belongs in pg_service.conf"),
            ("{service: s, password: p}", "password belongs in"),
            ("{schema: 'a\"b'}", "schema must"), ("{schema: pg_x}", "schema must be a–z"),
            ("{schema: 1a}", "schema must be a–z"), ("{host: 'a,b'}", "one server"),
            ("{port: 0}", "port"), ("{password: p, password-file: /f}", "exclude each other"),
            ("{tls: maybe}", "tls"), ("{tls: {certificate: /c}}", "certificate and key"),
            ("{tls: {verify: false, ca: /c}}", "no use"), ("{time-limit: 1s}", "time-limit"),
        ])
    func mistakesAreNamed(_ text: String, _ words: String) throws {
        let told = try postgres(text).told.mistakes
        #expect(told.contains { $0.message.contains(words) }, "\(told)")
    }

    @Test(arguments: ["{password: p}", "{tls: {verify: false}}"])
    func whatIsHardlyMeantIsWarnedOf(_ text: String) throws {
        #expect(try postgres(text).told.warnings.count == 1)
    }
}
