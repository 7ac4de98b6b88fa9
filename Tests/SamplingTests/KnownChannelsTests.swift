import Telemetry
import Testing

@testable import Sampling

struct KnownChannelsTests {
    @Test func whatWasGivenLastBecomesNull() {
        var known = KnownChannels("stand-in", unit: "1")
        #expect(known.nulls(.timeout).map(\.text) == ["stand-in 1 null:timeout"])
        known.record([Measurement("a", "Cel", 1), Measurement("b", "V", .null(.failed))])
        known.record([])
        #expect(known.nulls(.absent).map(\.text) == ["a Cel null:absent", "b V null:absent"])
    }
}
