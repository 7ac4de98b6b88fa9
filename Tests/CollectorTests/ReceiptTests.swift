import NearbyCore
import Telemetry
import Testing

@testable import Collector

/// Nothing lost, nothing double: agent and collectors together.
@Suite struct ReceiptTests {
    @Test(arguments: 1...40 as ClosedRange<UInt64>)
    func throughLossAndRestartsEveryReadingIsStoredOnce(seed: UInt64) throws {
        var world = try ReceiptWorld(seed: seed)
        try world.run(for: .seconds(150), thenCalm: .seconds(120))
        let wrong = world.missingOrWrong
        #expect(wrong.isEmpty, "\(wrong.prefix(5)), \(wrong.count) in all")
        #expect(world.waitingCount == 0)
        #expect(world.measured.count > 500)
        #expect(world.lostWithThePower.count < world.measured.count / 2)
    }
}
