import Testing

@testable import CollectorConfiguration
@testable import Configuration

struct MQTTSettingsTests {
    private func decode(_ text: String) throws -> (MQTTSettings, MistakeList) {
        let list = MistakeList(file: "f")
        let node = try YAMLNode.parse(Array(text.utf8), file: "f")
        return (MQTTSettings(Section(node, MQTTSettings.table, list)), list)
    }

    private func mistakes(_ text: String) throws -> [String] {
        let (_, list) = try decode(text)
        return list.inOrder.map { String($0.description.dropFirst(2)) }
    }

    @Test func aHostIsEnough() throws {
        let (settings, list) = try decode("host: broker.lan")
        #expect(list.inOrder.isEmpty && list.warningsInOrder.isEmpty)
        #expect(settings.port == 1_883 && settings.target == "broker.lan:1883")
        #expect(!settings.tls.isOn && settings.version == .newest)
        #expect(settings.prefix == "rivulet" && settings.payload == .json)
        #expect(settings.isRetained && !settings.wantsLate)
        #expect(settings.dialect == .topics(homeAssistant: nil))
        #expect(try decode("host: fd00::1").0.target == "[fd00::1]:1883")
    }

    @Test func everythingCanBeSaid() throws {
        let (settings, list) = try decode(
            """
            host: 10.0.0.2
            port: 8884
            tls: {ca: /a.pem, certificate: /b.pem, key: /c.pem}
            user: rivulet
            password-file: /etc/rivulet/mqtt
            client-id: gate
            version: 3.1.1
            prefix: site/one
            payload: value
            retain: false
            late: publish
            forget: 7d
            home-assistant: {prefix: ha}
            """)
        #expect(list.inOrder.isEmpty && list.warningsInOrder.isEmpty)
        #expect(settings.port == 8_884 && settings.version == .v311)
        #expect(settings.tls.authority == "/a.pem" && settings.tls.certificate == "/b.pem")
        #expect(settings.tls.key == "/c.pem" && settings.user == "rivulet")
        #expect(settings.password == .file("/etc/rivulet/mqtt") && settings.clientID == "gate")
        #expect(settings.prefix == "site/one" && settings.payload == .value)
        #expect(!settings.isRetained && settings.wantsLate)
        #expect(settings.forget == .seconds(7 * 86_400))
        #expect(settings.dialect == .topics(homeAssistant: "ha"))
    }

    @Test func wordsStandForSections() throws {
        let (settings, list) = try decode("{host: b, tls: on, home-assistant: true}")
        #expect(list.inOrder.isEmpty && settings.port == 8_883)
        #expect(settings.tls.isOn && settings.tls.authority == nil)
        #expect(settings.dialect == .topics(homeAssistant: "homeassistant"))
        #expect(try decode("{host: b, tls: off}").0.tls.isOn == false)
    }

    @Test func sparkplugHasItsOwnWords() throws {
        let (settings, list) = try decode("{host: b, sparkplug: {edge: gate, host: scada}}")
        #expect(list.inOrder.isEmpty)
        #expect(settings.dialect == .sparkplug(group: "rivulet", edge: "gate", host: "scada"))
    }

    @Test func everyMistakeIsNamedWithItsPlace() throws {
        for (text, message) in [
            ("{port: 1}", "1:1: mqtt needs the key host; it must be text of 1 to 253"),
            ("{host: mqtt://b}", "1:8: host is a name or an address, such as broker.lan"),
            ("{host: b, port: 0}", "1:17: port is '0'; it must be a whole number from 1"),
            ("{host: b, prefix: a/+}", "1:19: prefix must not hold + or #"),
            ("{host: b, prefix: $SYS}", "1:19: prefix must not begin with $"),
            ("{host: b, prefix: a//b}", "1:19: prefix must not begin or end with /"),
            ("{host: b, version: 4}", "1:20: version is '4'; it must be one of 5, 3.1.1"),
            ("{host: b, password-file: /p}", "1:1: a password has no use without user"),
            ("{host: b, tls: {key: /k}}", "1:16: certificate and key go together"),
            ("{host: b, tls: {verify: false}}", "1:16: a broker's certificate is always checked"),
            ("{host: b, tls: {insecure: true}}", "1:17: unknown key insecure in tls"),
            ("{host: b, tls: yes}", "1:16: tls must be a mapping of keys to values, or on or off"),
            ("{host: b, home-assistant: {prefix: a#}}", "1:36: prefix must not hold + or #"),
            ("{host: b, sparkplug: {group: g}}", "1:22: sparkplug needs the key edge"),
            ("{host: b, sparkplug: {edge: a/b}}", "1:29: edge must not hold /"),
            (
                "{host: b, sparkplug: {edge: a}, home-assistant: true}",
                "1:49: home-assistant has no use with sparkplug"
            ),
        ] {
            let found = try mistakes(text)
            #expect(
                found.count == 1 && found.first?.hasPrefix(message) == true, "\(text): \(found)")
        }
    }

    @Test func aPasswordInTheClearIsWarnedOf() throws {
        let text = "user: a\npassword-file: /p"
        let (_, remote) = try decode("host: b\n" + text)
        #expect(remote.warningsInOrder.count == 1 && remote.inOrder.isEmpty)
        for host in ["localhost", "127.0.0.1", "\"::1\""] {
            #expect(try decode("host: \(host)\n" + text).1.warningsInOrder.isEmpty)
        }
        #expect(try decode("host: b\ntls: on\n" + text).1.warningsInOrder.isEmpty)
    }
}
