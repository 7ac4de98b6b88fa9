import Testing

@testable import Collector

@Suite struct GlobTests {
    @Test(arguments: [
        ("*", "", true), ("*", "anything", true), ("air.*", "air.temperature", true),
        ("air.*", "fair.x", false), ("green?ouse-*", "greenhouse-north", true),
        ("*.temperature", "air.temperature", true), ("a*b*c", "a1b2b3c", true),
        ("a*b*c", "a1b2b3", false), ("[ab]x", "bx", true), ("[a-c]x", "dx", false),
        ("[!a-c]x", "dx", true), ("[^a]", "b", true), ("温*", "温室", true), ("?", "温", true),
        ("net[0]", "net[0]", true), ("net[0]", "net0", true), ("[", "[", true),
        ("[abc", "[abc", true), ("", "", true), ("", "a", false), ("north", "north ", false),
        ("[]]", "]", true), ("[a-]", "-", true),
    ])
    func patternsAreThoseOfAShell(pattern: String, name: String, isMatch: Bool) {
        #expect(Glob(pattern).matches(name) == isMatch)
    }

    @Test func noPatternAllowsEverything() {
        #expect([Glob]().allow("x"))
        #expect([Glob("a"), Glob("x*")].allow("xy"))
        #expect(![Glob("a")].allow("x"))
    }

    /// A pattern that would take exponential time if every `*` were tried anew.
    @Test func manyStarsTakeNoLonger() {
        let pattern = String(repeating: "*a", count: 60) + "b"
        #expect(!Glob(pattern).matches(String(repeating: "a", count: 2_000)))
    }
}
