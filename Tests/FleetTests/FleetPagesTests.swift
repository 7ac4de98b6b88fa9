import Testing

@testable import Fleet

struct FleetPagesTests {
    private func answer(_ request: String) -> [String]? {
        var pages = FleetPages()
        return pages.answer(request) { FleetSnapshot() }
    }

    @Test func aFleetIsAnsweredInPieces() {
        #expect(answer("fleet")?.count == 1)
        #expect(answer("fleet") == answer("fleet 0"))
        #expect(answer("fleet 7")?.first?.hasSuffix("\"nodes\":[],\"next\":null}") == true)
    }

    @Test(arguments: ["fleet -1", "fleet x", "fleet 99999999999999999999"])
    func whatIsNoPlaceIsRefused(_ request: String) {
        #expect(answer(request) == ["error fleet [NODES TO SKIP]"])
    }

    @Test(arguments: ["", "fleets", "status", "fleet 1 2"])
    func otherRequestsAreLeftToOthers(_ request: String) {
        #expect(answer(request) == nil)
    }
}
