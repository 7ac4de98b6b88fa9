import CollectorConfiguration
import Testing

@testable import CollectorShell

struct AlarmTargetsTests {
    /// - Parameter sends: of each rule, as the configuration has it.
    private func targets(_ sends: [String]) -> AlarmTargets {
        let rules = sends.enumerated().map { number, send in
            "  - {name: rule \(number), channel: air, above: 30, send: [\(send)]}\n"
        }
        let text = "trust: any\nrole: collector\nalarms:\n" + rules.joined()
        guard case .good(let settings) = CollectorSettings.decode(Array(text.utf8), file: "f")
        else {
            Issue.record("\(CollectorSettings.decode(Array(text.utf8), file: "f"))")
            return AlarmTargets()
        }
        return AlarmTargets(settings.alarms)
    }

    @Test func aTargetOfSeveralRulesIsOne() {
        let known = targets([
            "{command: {run: [/a]}}", "{command: {run: [/b]}}, {command: {run: [/a]}}",
        ])
        #expect(known.names == ["command /a", "command /b"])
        #expect(known.ofRules[0] == ["command /a"])
        #expect(known.ofRules[1] == ["command /b", "command /a"])
        #expect(known["command /a"] != nil && known["command /c"] == nil)
    }

    @Test func whatDiffersInOtherThingsIsAnotherTarget() {
        let known = targets([
            "{command: {run: [/a]}}",
            "{command: {run: [/a], time-limit: 5s}}, {command: {run: [/a], time-limit: 7s}}",
        ])
        #expect(known.names == ["command /a", "command /a+", "command /a++"])
        #expect(known.ofRules[1] == ["command /a+", "command /a++"])
    }

    @Test func thoseOfAFormerConfigurationAreKnownBesideTheRules() {
        let known = targets(["{command: {run: [/b]}}"]).with(targets(["{command: {run: [/a]}}"]))
        #expect(known.names == ["command /a", "command /b"])
        #expect(known.ofRules[0] == ["command /b"])
    }
}
