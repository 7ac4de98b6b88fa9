import Telemetry
import Testing

@testable import CollectorConfiguration
@testable import Configuration

struct AlarmSettingsTests {
    private func decoded(_ text: String) -> ([AlarmSettings], [String]) {
        let outcome = CollectorSettings.decode(
            Array("trust: any\nrole: collector\n\(text)\n".utf8), file: "f")
        if case .good(let settings) = outcome { return (settings.alarms, []) }
        return ([], Sample.texts(outcome.node))
    }

    @Test func aLimitForSomeTime() {
        let (alarms, mistakes) = decoded(
            """
            alarms:
              - {name: warm, node: freezer*, channel: t, above: -15.5, for: 10min, hysteresis: 1}
              - name: gone
                silent: 5min
                send:
                  - webhook: {url: "https://h/hook?key=1"}
                  - command: {run: [/bin/siren, "on"], time-limit: 3s}
            """)
        #expect(mistakes.isEmpty)
        #expect(alarms.first?.condition == .above(DecimalValue(coefficient: -155, exponent: -1)))
        #expect(alarms.first?.hold == .seconds(600))
        #expect(alarms.first?.hysteresis == DecimalValue(coefficient: 1))
        #expect(alarms.last?.condition == .silent)
        #expect(alarms.last?.hold == .seconds(300))
        #expect(alarms.last?.node == "*")
        #expect(
            alarms.last?.targets.last == .command(["/bin/siren", "on"], timeLimit: .seconds(3)))
    }

    @Test(
        arguments: [
            ("{above: 1}", "needs the key name"),
            ("{name: a}", "one of the keys above, below, failing and silent"),
            ("{name: a, above: 1, below: 2}", "failing and silent; it has above and below"),
            ("{name: a, above: warm}", "must be a number"),
            ("{name: a, silent: 5min, for: 1s}", "goes with above and below"),
            ("{name: a, silent: 5min, channel: t}", "leave channel out"),
            ("{name: a, above: 1, hysteresis: -1}", "hysteresis is negative"),
            ("{name: a, above: 1}\n  - {name: a, below: 0}", "two alarms are called a"),
            ("{name: a, above: 1, send: [{}]}", "one of the keys webhook, command and mqtt"),
            (
                "{name: a, above: 1, send: [{mqtt: true, command: {run: [/a]}}]}",
                "exactly one of the keys webhook, command and mqtt; it has command and mqtt"
            ),
            ("{name: a, above: 1, send: [{webhook: {}}]}", "needs the key url"),
            ("{name: a, above: 1, send: [{command: {run: [siren]}}]}", "full path"),
            ("{name: a, above: 1, send: [{command: {run: []}}]}", "run is empty"),
            ("{name: a, above: 1, send: [{mqtt: true}]}", "no output has the key mqtt"),
            ("{name: a, abov: 1}", "did you mean above?"),
        ] as [(String, String)])
    func mistakes(_ text: String, _ expected: String) {
        let mistakes = decoded("alarms:\n  - \(text)").1
        #expect(mistakes.contains { $0.contains(expected) }, "\(mistakes)")
    }

    @Test func agentsHaveNone() {
        let outcome = Sample.decode("alarms:\n  - {name: a, above: 1}")
        #expect(Sample.texts(outcome).contains { $0.contains("alarms are a collector's") })
    }
}
