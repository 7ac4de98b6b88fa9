import NearbyCore
import Telemetry
import Testing

@testable import Collector

/// A collector that starts long after its agents: what they kept belongs to the past.
@Suite struct BacklogTests {
    private let peer = Fixture.peer(7)

    /// The agent's clock reads 1,000 s less than ours; it measured once a second for a minute
    /// before we came.
    @Test(arguments: [false, true])
    func readingsFromBeforeTheFirstContactKeepTheirAge(reportsComeFirst: Bool) throws {
        var settings = Telemeter.Settings(
            run: RunID(value: 0x77), boot: BootID(high: 1, low: 2),
            node: try NodeDescription(name: "n"))
        settings.reportBytesMax = 100
        var telemeter = Telemeter(settings: settings)
        let channel = try #require(ChannelDescription(name: "t", scale: 0))
        for second in 1...60 as ClosedRange<Int64> {
            let sample = Sample(
                channel: channel, outcome: .value(DecimalValue(coefficient: second)),
                time: Fixture.at(second * 1_000))
            _ = telemeter.handle(.sample(sample), now: Fixture.at(second * 1_000))
        }
        let connected = telemeter.handle(.destinationUp(peer), now: Fixture.at(60_500))
        var births: [[UInt8]] = []
        var reports: [[UInt8]] = []
        for output in connected {
            switch output {
            case .sendReliable(let bytes, _): births.append(bytes)
            case .sendUnreliable(let bytes, _): reports.append(bytes)
            case .drop: Issue.record("dropped")
            }
        }
        #expect(reports.count > 1)
        var machine = CollectorMachine()
        var deliveries: [Delivery] = []
        let messages = reportsComeFirst ? reports + births : births + reports
        for (index, bytes) in messages.enumerated() {
            let now = Fixture.at(1_060_510 + Int64(index))
            for case .accepted(let delivery) in machine.handle(
                .received(bytes, from: peer, hops: 1), now: now)
            {
                deliveries.append(delivery)
            }
        }
        #expect(deliveries.flatMap(\.readings).count == 60)
        for delivery in deliveries {
            for reading in delivery.readings {
                let truth = reading.time + .seconds(1_000)
                let error = delivery.eventTime(of: reading) - truth
                #expect(error >= .zero && error <= .milliseconds(50), "\(reading.sequence)")
            }
        }
    }
}
