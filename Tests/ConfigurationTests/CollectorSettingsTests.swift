import Testing

@testable import CollectorConfiguration
@testable import Configuration

struct CollectorSettingsTests {
    private static let wrong = """
        role: collector
        web: {prot: 8080}
        outputs: [{json: {file: a, fiel: b}}]
        agents: [{node: x}]
        alarms: [{name: a}]
        """

    /// Who knows no outputs passes over them; the others name each mistake, in the file's order.
    @Test func mistakesBehindACollectorAreNamedWhereItsFileIsRead() {
        #expect(Settings.decode(Array("trust: any\n\(Self.wrong)".utf8), file: "f").settings != nil)
        let mistakes = Sample.mistakes(Self.wrong)
        #expect(mistakes.map { $0.prefix(2) }.sorted() == mistakes.map { $0.prefix(2) })
        for line in ["3:", "4:", "5:", "6:"] {
            #expect(mistakes.contains { $0.hasPrefix(line) }, "\(mistakes)")
        }
    }

    /// An agent, which knows nothing of them, refuses them all the same; not empty lists.
    @Test(arguments: ["web: {prot: 1}", "outputs: [{}]", "agents: [{}]", "alarms: [{}]"])
    func anAgentRefusesWhatIsACollectors(_ line: String) {
        for role in ["agent", "relay"] {
            let text = "trust: any\nrole: \(role)\nsensors: []\n\(line)"
            let outcome = Settings.decode(Array(text.utf8), file: "f")
            #expect(
                Sample.texts(outcome).contains { $0.contains("leave") && $0.contains("out here") },
                "\(outcome)")
        }
        let empty = "role: relay\noutputs: []\nagents: []\nalarms: []"
        #expect(Sample.mistakes(empty) == [])
    }

    /// A second program beside a collector would tell of each alarm a second time.
    @Test func whoLooksInServesNoPageAndTellsNobody() throws {
        let text = """
            role: collector
            web: {port: 8080}
            outputs: [{json: {file: /a}}]
            agents: [{node: x, rename: y}]
            alarms: [{name: a, above: 1, send: [{webhook: {url: "http://h/"}}]}]
            """
        let settings = try #require(Sample.whole(text).settings)
        #expect(settings.web != nil && settings.outputs.count == 1 && settings.alarms.count == 1)
        var viewer = settings.node
        viewer.role = .viewer
        let seen = settings.lookingIn(viewer)
        #expect(seen.node.role == .viewer)
        #expect(seen.web == nil && seen.outputs.isEmpty && seen.alarms.isEmpty)
        #expect(seen.agents == settings.agents)
    }
}
