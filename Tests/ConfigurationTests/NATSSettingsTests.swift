import Testing

@testable import CollectorConfiguration
@testable import Configuration

struct NATSSettingsTests {
    private func nats(_ text: String) throws -> (settings: NATSSettings, told: MistakeList) {
        let mistakes = MistakeList(file: "f")
        let node = try YAMLNode.parse(Array(text.utf8), file: "f")
        return (NATSSettings(Section(node, NATSSettings.table, mistakes)), mistakes)
    }

    @Test func aCluster() throws {
        let (settings, told) = try nats(
            "{servers: ['a:4222', '10.0.0.2', '[fd00::1]:4222'], user: u, password-file: /p,"
                + " tls: on}"
        )
        #expect(told.mistakes.isEmpty)
        #expect(settings.servers == ["a:4222", "10.0.0.2", "[fd00::1]:4222"])
        #expect(settings.stream == "RIVULET" && settings.prefix == "rivulet")
        #expect(settings.tls.isOn && settings.tls.isVerified)
        #expect(settings.limits.replicas == nil && settings.limits.bytes == 0)
        #expect(settings.limits.duplicates == .seconds(1_800))
    }

    @Test(
        arguments: [
            ("{}", "needs the key servers"), ("{servers: []}", "at least one server"),
            ("{servers: ['nats://a']}", "host or host:port"), ("{servers: ['a:0']}", "host or"),
            ("{servers: ['a:65536']}", "host or"), ("{servers: [a], stream: 'a.b'}", "stream must"),
            ("{servers: [a], subject: 'a..b'}", "subject must"),
            ("{servers: [a], subject: 'a.>'}", "subject must"),
            ("{servers: [a], credentials: /c, user: u}", "credentials excludes"),
            ("{servers: [a], password: p}", "needs a user"),
            ("{servers: [a], max-size: much}", "max-size"),
            ("{servers: [a], replicas: 9}", "replicas"),
        ])
    func mistakesAreNamed(_ text: String, _ words: String) throws {
        let told = try nats(text).told.mistakes
        #expect(told.contains { $0.message.contains(words) }, "\(told)")
    }

    @Test func aPasswordAmongTheServersIsNotShown() throws {
        let (settings, told) = try nats("{servers: ['u:hunter2@a:4222']}")
        #expect(settings.servers.isEmpty)
        #expect(told.mistakes.count == 1)
        #expect(!told.mistakes.contains { $0.message.contains("hunter2") })
    }
}
