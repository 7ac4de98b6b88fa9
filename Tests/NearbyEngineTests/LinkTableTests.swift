import NearbyCore
import Testing

@testable import NearbyEngine

struct LinkTableTests {
    private let wifi = LinkChoiceTests.wifi
    private let bluetooth = LinkChoiceTests.bluetooth

    private var both: LinkTable {
        var links = LinkTable()
        links.add(wifi.endpoint.link, .wifi)
        links.add(bluetooth.endpoint.link, .bluetooth)
        return links
    }

    @Test func theCheapestLinkIsTriedFirstAndEveryThirdTryBeginsWithTheNext() {
        let endpoints = [bluetooth.endpoint, wifi.endpoint]
        #expect(both.reachable(endpoints) == [wifi.endpoint, bluetooth.endpoint])
        #expect(both.reachable(endpoints, tries: 2).first == wifi.endpoint)
        #expect(both.reachable(endpoints, tries: 3).first == bluetooth.endpoint)
        #expect(both.reachable(endpoints, tries: 6).first == wifi.endpoint)
    }

    @Test func whatIsOnALinkThatIsDownCannotBeReached() {
        var links = both
        links.remove(wifi.endpoint.link)
        #expect(links.reachable([wifi.endpoint, bluetooth.endpoint]) == [bluetooth.endpoint])
        #expect(links.paths(to: [wifi.endpoint, bluetooth.endpoint]) == [bluetooth])
        #expect(!links.reaches(wifi.endpoint))
        // An address without a link leaves as the system chooses.
        var anywhere = wifi.endpoint
        anywhere.link = LinkID(value: 0)
        #expect(links.reaches(anywhere))
        #expect(links.reachable([anywhere]) == [anywhere])
        #expect(links.path(to: anywhere).linkClass == .ethernet)
    }
}
