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
        let settings = Telemeter.Settings(
            run: RunID(value: 0x77), boot: BootID(high: 1, low: 2),
            node: try NodeDescription(name: "n"))
        var telemeter = Telemeter(settings: settings)
        let channel = try #require(ChannelDescription(name: "t", scale: 0))
        for second in 1...60 as ClosedRange<Int64> {
            let sample = Sample(
                channel: channel, outcome: .value(DecimalValue(coefficient: second)),
                time: Fixture.at(second * 1_000))
            _ = telemeter.handle(.sample(sample), now: Fixture.at(second * 1_000))
        }
        var births: [[UInt8]] = []
        var reports: [[UInt8]] = []
        var outputs = telemeter.handle(.collectorUp(peer), now: Fixture.at(60_500))
        while telemeter.pendingCount > 0 || !outputs.isEmpty {
            for output in outputs {
                switch output {
                case .sendReliable(let bytes, _): births.append(bytes)
                case .sendUnreliable(let bytes, _, _): reports.append(bytes)
                case .drop, .spool, .fetch, .forget: Issue.record("\(output)")
                }
            }
            guard telemeter.pendingCount > 0 else { break }
            outputs = telemeter.handle(
                .deadlineReached, now: try #require(telemeter.nextDeadline))
        }
        #expect(!reports.isEmpty)
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
