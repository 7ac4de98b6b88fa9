import Testing

@testable import FleetTerminal

struct SparklineTests {
    @Test func theGreatestIsTheHighestBar() {
        #expect(Sparkline.text([0, 1, 2, 3, 4, 5, 6, 7], columns: 8) == "▁▂▃▄▅▆▇█")
        #expect(Sparkline.text([-5, 5], columns: 8) == "▁█")
    }

    @Test func onlyTheLastOnesFit() {
        #expect(Sparkline.text([100, 1, 2], columns: 2) == "▁█")
        #expect(Sparkline.text([1, 2], columns: 0) == "")
    }

    @Test func whatHasNoValueIsAGap() {
        #expect(Sparkline.text([1, nil, 2, .infinity], columns: 8) == "▁ █ ")
        #expect(Sparkline.text([nil, nil], columns: 8) == "")
    }

    @Test func whatStandsStillIsLow() {
        #expect(Sparkline.text([3, 3, 3], columns: 8) == "▁▁▁")
    }
}
