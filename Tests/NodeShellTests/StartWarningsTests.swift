import Configuration
import NearbyCore
import Testing

@testable import NodeShell

struct StartWarningsTests {
    private let own = PeerID(high: 1, low: 2)
    private let settings: Settings

    init() throws {
        let text = "network: greenhouse\ntrust: any\nstate: /var/lib/rivulet\n"
        guard case .good(let settings) = Settings.decode(Array(text.utf8), file: "f") else {
            throw StartError("no settings", .configuration)
        }
        self.settings = settings
    }

    @Test func aStateDirectoryThatIsNobodysAloneIsWarnedOf() {
        let lines = StartWarnings.lines(settings, .agent, own, isExposed: true)
        #expect(lines.count == 1)
        #expect(lines.first?.hasPrefix("/var/lib/rivulet: no lock can be taken there") == true)
        #expect(StartWarnings.lines(settings, .agent, own, isExposed: false).isEmpty)
    }

    @Test func aCollectorThatItsOwnListDoesNotNameIsWarned() {
        var settings = settings
        #expect(StartWarnings.lines(settings, .collector, own, isExposed: false).isEmpty)
        settings.collectors = [PeerID(high: 3, low: 4)]
        let lines = StartWarnings.lines(settings, .collector, own, isExposed: false)
        #expect(lines.count == 1)
        #expect(lines.first?.hasPrefix("collectors: does not name this collector, \(own);") == true)
        #expect(StartWarnings.lines(settings, .agent, own, isExposed: false).isEmpty)
        settings.collectors.append(own)
        #expect(StartWarnings.lines(settings, .collector, own, isExposed: false).isEmpty)
    }
}
