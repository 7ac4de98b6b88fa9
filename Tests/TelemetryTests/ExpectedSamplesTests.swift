import NearbyCore
import Testing

@testable import Telemetry

extension TelemeterTests {
    /// Of one answer of a sensor, even where each reading leaves at once.
    @Test func channelsThatAreExpectedTogetherCostOneBirth() throws {
        var telemeter = try telemeter(wait: .zero)
        _ = telemeter.handle(.collectorUp(collector), now: .zero)
        let samples = try (0..<20).map { try sample("c\($0)", "1", at: 5) }
        var outputs = telemeter.handle(.expect(samples), now: at(5))
        #expect(outputs.isEmpty)
        for sample in samples { outputs += telemeter.handle(.sample(sample), now: at(5)) }
        #expect(try births(outputs).map(\.channels.count) == [20])
        #expect(try reports(outputs).count == 20)
    }
}
