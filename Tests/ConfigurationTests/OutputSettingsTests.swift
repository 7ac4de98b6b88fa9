import Testing

@testable import CollectorConfiguration
@testable import Configuration

struct OutputSettingsTests {
    private func decoded(
        _ outputs: String, before: String = "role: collector\ntrust: any\n"
    ) -> ([OutputSettings], [String]) {
        let outcome = CollectorSettings.decode(
            Array("\(before)outputs:\n\(outputs)\n".utf8), file: "f")
        if case .good(let settings) = outcome { return (settings.outputs, []) }
        return ([], Sample.texts(outcome.node))
    }

    @Test func withoutOutputsThereAreNone() throws {
        let outcome = CollectorSettings.decode(
            Array("role: collector\ntrust: any\n".utf8), file: "f")
        guard case .good(let settings) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(settings.outputs.isEmpty)
    }

    @Test(arguments: [
        ("- json: {file: \"-\"}", false),
        ("- mqtt: {host: b}\n- {name: o, mqtt: {host: b}}", true),
        ("- mqtt: {host: b}\n- {name: o, mqtt: {host: b, prefix: two}}", false),
        ("- mqtt: {host: b}\n- {name: o, mqtt: {host: b, sparkplug: {edge: e}}}", false),
    ])
    func whatIsHardlyMeantIsWarnedOf(_ outputs: String, _ isTold: Bool) throws {
        let text = "role: collector\ntrust: any\noutputs:\n\(outputs)\n"
        guard case .good(let settings) = CollectorSettings.decode(Array(text.utf8), file: "f")
        else {
            Issue.record("not decoded")
            return
        }
        let warnings = settings.node.warnings.map(\.message)
        #expect(warnings.isEmpty == !isTold, "\(warnings)")
        #expect(
            warnings.allSatisfy { $0.contains("two outputs publish the same topics at b:1883") })
    }

    @Test func anOutputIsNamedAfterWhereItGoes() throws {
        let (outputs, mistakes) = decoded(
            """
            - json: {file: /var/lib/rivulet/readings.jsonl}
            - {name: other, json: {file: "-"}, history: true, hold: 1d}
            - json: {command: [/usr/bin/tee, x], acknowledge: true, time-limit: 3s}
            - postgres: "service=rivulet"
            - postgres: {service: other}
            - mqtt: {host: broker.lan}
            """)
        #expect(mistakes == [])
        try #require(outputs.count == 6)
        #expect(
            outputs.map(\.name) == [
                "json /var/lib/rivulet/readings.jsonl", "other", "json /usr/bin/tee",
                "postgres service rivulet", "postgres service other", "mqtt broker.lan:1883",
            ])
        #expect(outputs.map(\.wantsHistory) == [true, true, false, true, true, false])
        #expect(outputs[0].hold == .seconds(7 * 86_400))
        #expect(outputs[1].hold == .seconds(86_400))
        #expect(outputs[1].isOnStandardOutput)
        guard case .json(let file) = outputs[0].kind, case .json(let command) = outputs[2].kind
        else {
            Issue.record("not json")
            return
        }
        #expect(
            file.place
                == .file("/var/lib/rivulet/readings.jsonl", sizeMax: 100 << 20, filesMax: 10))
        #expect(command.place == .command(["/usr/bin/tee", "x"], acknowledges: true))
        #expect(command.timeLimit == .seconds(3))
    }

    @Test(
        arguments: [
            ("- {name: a}", "must have one of the keys json, influx"),
            ("- {json: {file: /a}, mqtt: {host: b}}", "exactly one of the keys json, influx"),
            ("- json: {}", "one of the keys file and command"),
            ("- json: {file: /a, command: [/b]}", "keys file and command; it has file and command"),
            ("- json: {command: [tee]}", "must begin with the absolute path"),
            ("- json: {command: []}", "must begin with the absolute path"),
            ("- json: {file: /a, acknowledge: true}", "acknowledge has no use here"),
            ("- json: {file: '-', rotate-size: 1MiB}", "rotate-size has no use here"),
            ("- json: {file: /a, rotate-size: 1}", "rotate-size is '1'"),
            ("- json: /a", "json must be a mapping"),
            ("- {json: {file: /a}, history: perhaps}", "history is 'perhaps'"),
            ("- {json: {file: /a}, hold: forever}", "hold is 'forever'"),
            ("- {json: {file: /a}}\n- {json: {file: /a}}", "two outputs are called"),
            (
                "- {mqtt: {host: b, client-id: x}}\n- {name: o, mqtt: {host: b, client-id: x}}",
                "two outputs have the same client-id at b:1883"
            ),
            (
                "- {json: {file: /a}}\n- {name: o, json: {file: /a}}",
                "two outputs write the file /a"
            ),
            (
                "- {json: {file: \"-\"}}\n- {name: o, json: {file: \"-\"}}",
                "two outputs write to standard output"
            ),
            (
                "- {mqtt: {host: b, sparkplug: {edge: e}}}\n"
                    + "- {name: o, mqtt: {host: b, sparkplug: {edge: e}}}",
                "two outputs have the same edge e in group rivulet at b:1883"
            ),
            ("- {name: x, json: {file: /a}}\n- {name: x, json: {file: /b}}", "two outputs are"),
            ("- postgres: rivulet", "text such as \"service=rivulet\""),
            ("- postgres: \"servant=rivulet\"", "unknown key servant"),
            ("- kafka: {}", "unknown key kafka"),
            ("  json: {file: /a}", "a list of at most 16"),
        ] as [(String, String)])
    func mistakes(_ text: String, _ expected: String) {
        let mistakes = decoded(text).1
        #expect(mistakes.contains { $0.contains(expected) }, "\(mistakes)")
    }

    @Test func outputsNeedACollectorWithAStore() {
        let good = "- json: {file: /a}"
        let agent = decoded(good, before: "trust: any\nrole: relay\n").1
        #expect(agent.contains { $0.contains("outputs follow a collector's store") })
        let without = decoded(
            good, before: "trust: any\nrole: collector\ncollector: {store: off}\n"
        ).1
        #expect(without.contains { $0.contains("`collector: store` is off") })
    }
}
