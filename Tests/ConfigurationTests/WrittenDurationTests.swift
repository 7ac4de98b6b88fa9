import Testing

@testable import Configuration

@Suite struct WrittenDurationTests {
    @Test(arguments: [
        ("2h", 7_200_000), ("30min", 1_800_000), ("30 min", 1_800_000), ("1 day", 86_400_000),
        ("2 days", 172_800_000), ("1h30min", 5_400_000), ("1 h 30 m", 5_400_000),
        ("1.5h", 5_400_000), ("90 seconds", 90_000), ("250ms", 250), ("2 Hours", 7_200_000),
        ("0.25 h", 900_000),
    ])
    func durationsAreReadAsPeopleWriteThem(text: String, milliseconds: Int) {
        #expect(Settings.writtenDuration(text) == .milliseconds(milliseconds))
    }

    @Test(arguments: [
        "", " ", "h", "10", "1 fortnight", "-1h", "1..5h", "1h-", "1.h", ".5h", "1.2345h",
        "99999999999d", "2h 5",
    ])
    func anythingElseIsRefused(text: String) { #expect(Settings.writtenDuration(text) == nil) }
}

@Suite struct ConfiguredPathsTests {
    private func paths(_ text: String) throws(Mistake) -> ConfiguredPaths {
        try ConfiguredPaths.decode(Array(text.utf8), file: "config.yaml")
    }

    @Test func theUsualPlacesAreTakenUnlessOthersAreNamed() throws {
        let usual = try paths("name: a\n")
        #expect(usual.controls == ["/run/rivulet/agent.sock", "/var/lib/rivulet/control.sock"])
        #expect(usual.store == "/var/lib/rivulet/readings.sqlite")
        let others = try paths("state: /s\ncontrol: /c\ncollector: {store: /d.sqlite}\n")
        #expect(others.controls == ["/c", "/s/control.sock"])
        #expect(others.store == "/d.sqlite")
        #expect(try paths("collector: {store: off}\n").store == nil)
    }

    /// A secret that only root may read, and a mistake elsewhere, keep nobody from asking a node.
    @Test func nothingElseInTheFileMatters() throws {
        #expect(try paths("secret-file: /none\nrole: nonsense\ncontrol: /c\n").control == "/c")
        #expect(throws: Mistake.self) { try paths("control: [\n") }
    }
}
