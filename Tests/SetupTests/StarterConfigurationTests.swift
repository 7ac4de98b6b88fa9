import Configuration
import Glibc
import NearbyCore
import Testing

@testable import Setup

struct StarterConfigurationTests {
    private func read(_ starter: StarterConfiguration) -> Settings? {
        let text = starter.text.split(separator: "\n", omittingEmptySubsequences: false).map {
            $0.hasPrefix("secret-file:") ? "trust: any" : String($0)
        }.joined(separator: "\n")
        switch Settings.decode(Array(text.utf8), file: "f") {
        case .good(let settings): return settings
        case .bad(let mistakes):
            Issue.record("\(mistakes)\n\(text)")
            return nil
        }
    }

    @Test(arguments: [ConfiguredRole.agent, .relay, .collector, .viewer])
    func whatItSaysIsRead(_ role: ConfiguredRole) throws {
        let collector = PeerID(high: 1, low: 2)
        let starter = StarterConfiguration(
            name: "north bench", network: "greenhouse", role: role, places: Places(),
            collectors: [collector],
            peers: [
                .ipv4(address: 0x0a00_0005, port: 4_577), .ipv6(high: 0xfd << 56, low: 5, port: 1),
            ],
            sensors: "sensors:\n  # this machine\n  - {driver: system, every: 30s}\n")
        let settings = try #require(read(starter))
        #expect(settings.name == "north bench")
        #expect(settings.network == "greenhouse")
        #expect(settings.role == role)
        #expect(settings.state == "/var/lib/rivulet")
        #expect(settings.control == "/run/rivulet/agent.sock")
        #expect(settings.collectors == [collector])
        #expect(settings.udp.peers.map(\.text) == ["10.0.0.5:4577", "[fd00::5]:1"])
        #expect(settings.sensors.count == (role == .agent ? 1 : 0))
        #expect(settings.warnings.isEmpty)
    }

    @Test(arguments: [
        "north", "Nördliches Beet", "a: b # c", "\"quoted\"", "back\\slash", "- [x]", "{y}", "no",
        "12", "~", "&a *b", "'", "%YAML", "@x", "1_000", "null", ":", "?", "a\u{2019}s",
    ])
    func anyNameIsReadBack(_ name: String) throws {
        let starter = StarterConfiguration(
            name: name, network: "n", role: .relay, places: Places(directory: "/srv/\(name)"))
        let settings = try #require(read(starter))
        #expect(settings.name == name)
        #expect(settings.state == "/srv/\(name)/state")
    }

    @Test(arguments: [
        ("/srv/node-1/a_b.yaml", "/srv/node-1/a_b.yaml"), ("/srv/a b", "'/srv/a b'"),
        ("/srv/it's", "'/srv/it'\\''s'"), ("/srv/$x", "'/srv/$x'"),
    ])
    func aPathInACommandIsQuotedWhereAShellNeedsIt(_ path: String, _ word: String) {
        #expect(Places.shellWord(path) == word)
    }

    @Test func itIsNarrowAndEndsItsLines() {
        for role in [ConfiguredRole.agent, .collector] {
            let text = StarterConfiguration(
                name: "x", network: "n", role: role, places: Places(),
                collectors: [PeerID(high: 1, low: 2)], sensors: "sensors: []\n"
            ).text
            #expect(text.hasSuffix("\n") && !text.contains("\n\n\n"))
            #expect(text.split(separator: "\n").allSatisfy { $0.count <= 84 })
        }
    }
}
