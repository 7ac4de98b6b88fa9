import Testing

@testable import CollectorConfiguration
@testable import Configuration

struct SettingsTests {
    @Test func anEmptyFileGivesTheDocumentedDefaults() throws {
        let settings = try #require(Sample.decode("").settings)
        #expect(settings.network == "rivulet")
        #expect(settings.role == .agent)
        #expect(settings.encryption == .required)
        #expect(settings.state == "/var/lib/rivulet")
        #expect(settings.control == "/run/rivulet/agent.sock")
        #expect(settings.udp.port == 0)
        #expect(settings.udp.beacon)
        #expect(settings.udp.interfaces.isEmpty)
        #expect(settings.udp.peers.isEmpty)
        #expect(settings.avahi == .auto)
        #expect(settings.sensors.isEmpty)
        #expect(settings.reportSize == 400)
        #expect(settings.reportWait == .milliseconds(250))
        #expect(settings.window == .seconds(10))
        #expect(!settings.name.isEmpty)
    }

    @Test func everyKeyIsTyped() throws {
        let text = """
            name: north bench
            network: greenhouse-2
            role: relay
            encryption: optional
            state: /tmp/state
            control: /tmp/control.sock
            labels: {site: north, bench: "3"}
            links:
              udp: {port: 4577, interfaces: [wlan0, eth0], beacon: false, peers: ["10.0.0.5:4577"]}
              avahi: off
            sensors:
              - {driver: system, every: 1s, disks: [/, /boot]}
              - {driver: system-less}
            """
        #expect(
            Sample.mistakes(text)
                == ["14:14: unknown driver system-less; known are " + Sample.drivers])
        let good = text.replacing("  - {driver: system-less}", with: Self.moreSensors)
        let settings = try #require(Sample.decode(good).settings)
        #expect(settings.name == "north bench")
        #expect(settings.network == "greenhouse-2")
        #expect(settings.role == .relay)
        #expect(settings.encryption == .optional)
        #expect(settings.labels.map(\.key) == ["bench", "site"])
        #expect(settings.labels.map(\.value) == ["3", "north"])
        #expect(settings.udp.port == 4_577)
        #expect(settings.udp.interfaces == ["wlan0", "eth0"])
        #expect(!settings.udp.beacon)
        #expect(settings.avahi == .off)
        #expect(settings.udp.peers.map(\.text) == ["10.0.0.5:4577"])
        #expect(settings.udp.peers.map(\.mark) == [Mark(line: 10, column: 71)])
        try #require(settings.sensors.count == 3)
        guard case .system(let system) = settings.sensors[0].driver,
            case .command(let command) = settings.sensors[1].driver,
            case .replay(let replay) = settings.sensors[2].driver
        else {
            Issue.record("drivers in another order")
            return
        }
        #expect(system.disks == ["/", "/boot"])
        #expect(settings.sensors[0].every == .seconds(1))
        #expect(command.run == ["/bin/co2", "-v", "two words"])
        #expect(command.timeLimit == .milliseconds(500))
        #expect(command.name == "co2")
        #expect(command.unit == "ppm")
        #expect(settings.sensors[1].every == .seconds(60))
        #expect(replay.file == "day.csv")
        #expect(replay.speed == 10)
        #expect(settings.sensors[2].every == .seconds(10))
        #expect(settings.reportSize == 800)
        #expect(settings.reportWait == .zero)
        #expect(settings.window == .seconds(60))
    }

    private static let moreSensors = """
          - driver: command
            run: [/bin/co2, -v, "two words"]
            every: 60s
            time-limit: 500ms
            name: co2
            unit: ppm
          - {driver: replay, file: day.csv, speed: 10}
        report: {size: 800B, wait: 0}
        collector: {window: 1min}
        """

    @Test func disksMayBeNone() throws {
        let settings = try #require(
            Sample.decode("sensors: [{driver: system, disks: []}]").settings)
        guard case .system(let system) = settings.sensors[0].driver else { return }
        #expect(system.disks.isEmpty)
    }

    @Test func everyDefaultFitsItsOwnKey() {
        for table in CollectorSettings.tables {
            for key in table.keys {
                guard case .value(let text) = key.standard else { continue }
                let node = YAMLNode(
                    value: .mapping([
                        (
                            YAMLNode(value: .scalar(key.name, isQuoted: false), mark: .start),
                            YAMLNode(value: .scalar(text, isQuoted: false), mark: .start)
                        )
                    ]), mark: .start)
                let mistakes = MistakeList(file: "f")
                let section = Section(node, table, mistakes)
                switch key.form {
                case .integer, .size: _ = section.integer(key.name)
                case .duration: _ = section.duration(key.name)
                case .flag: _ = section.flag(key.name)
                case .decimal: _ = section.decimal(key.name)
                default: _ = section.text(key.name)
                }
                let about = mistakes.mistakes.filter { $0.message.hasPrefix(key.name) }
                #expect(about.isEmpty, "\(table.name).\(key.name) = \(text)")
            }
        }
    }

    @Test func theReferenceNamesEveryKeyWithItsDefault() {
        let reference = CollectorSettings.reference
        for table in CollectorSettings.tables {
            #expect(reference.contains("## \(table.name)\n"))
            for key in table.keys {
                #expect(reference.contains("| `\(key.name)` | \(key.form.documented) | "))
                #expect(key.meaning.hasSuffix("."), "\(key.name)")
            }
            for later in table.later { #expect(reference.contains("`\(later)`")) }
        }
        #expect(
            reference.contains("| `wait` | duration, 0 to 1min | `250ms` | "),
            "ranges are documented")
        let columns = reference.split(separator: "\n").filter { $0.hasPrefix("|") }
            .map { $0.filter { $0 == "|" }.count }
        #expect(columns.allSatisfy { $0 == 5 })
    }
}
