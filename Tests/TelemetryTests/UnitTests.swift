import Testing

@testable import Telemetry

@Suite struct UnitTests {
    @Test func senMLNamesAreKnown() {
        for name in ["Cel", "%RH", "Pa", "m/s2", "lat", "%EL", "ppm", "hPa", "mm"] {
            #expect(Unit(name)?.isRegistered == true)
        }
        #expect(Unit("furlong")?.isRegistered == false)
    }

    @Test func noNameIsListedTwice() {
        #expect(Set(Unit.registered.map(\.name)).count == Unit.registered.count)
        for unit in Unit.registered { #expect(Unit(unit.name) != nil) }
    }

    @Test func unfitNamesAreRefused() {
        #expect(Unit("a b") == nil)
        #expect(Unit("a\u{1b}[2J") == nil)
        #expect(Unit(String(repeating: "m", count: 25)) == nil)
        #expect(Unit("") == Unit.none)
    }

    @Test func symbolsAreWhatPeopleWrite() {
        #expect(Unit.celsius.symbol == "°C")
        #expect(Unit.pascal.symbol == "Pa")
    }
}
