import NearbyCore
import NearbyEngine
import NearbySimulator
import NearbyWire
import Sampling
import Telemetry
import Testing

@testable import AgentComposition

struct AgentTests {
    private let agent = Self.agent(spoolAfter: .seconds(1))
    private let now = Instant.zero + .seconds(100)

    private static func agent(spoolAfter: Duration?) -> Agent {
        let configuration = NodeConfiguration(
            name: "hut", role: .agent, networkTag: NetworkTag(value: 1), run: RunID(value: 7),
            seed: 1)
        let cryptography = SimulatedCryptography(peer: PeerID(high: 1, low: 1), seed: 1)
        guard let description = try? NodeDescription(name: "hut") else {
            preconditionFailure("hut is a name")
        }
        var telemetry = Telemeter.Settings(
            run: RunID(value: 7), boot: BootID(high: 1, low: 1), node: description)
        telemetry.journal.spoolAfter = spoolAfter
        return Agent(
            node: Node(configuration, cryptography: cryptography), telemetry: telemetry)
    }

    private func level(_ value: Int64) -> Measurement { Measurement("level", "1", value) }

    /// Numbers and values of the readings among these.
    private func readings(_ outputs: [Agent.Output]) -> [String] {
        outputs.compactMap { output in
            guard case .event(.reading(let number, let sample)) = output else { return nil }
            let value = sample.outcome.value.map { "\($0)" } ?? "null"
            return "\(number) \(sample.channel.name) \(value)"
        }
    }

    private func events(_ outputs: [Agent.Output]) -> [Agent.Event] {
        outputs.compactMap { output in
            if case .event(let event) = output { event } else { nil }
        }
    }

    /// All of it, to be compared.
    private func said(_ outputs: [Agent.Output]) -> String { "\(outputs)" }

    @Test func theSpoolIsOpenedFirstIfThereIsOne() {
        #expect(said(agent.handle(.start, now: now)) == said([.spool(.open)]))
        let other = Self.agent(spoolAfter: nil)
        #expect(other.handle(.start, now: now).isEmpty)
    }

    @Test func allSensorsAreAskedAtOnceAndWhatTheyGiveAreReadings() {
        let plans = ["a", "b"].map { Agent.SensorPlan($0, period: .seconds(1)) }
        #expect(
            said(agent.handle(.configure(plans), now: now))
                == said([.sample(0, generation: 1), .sample(1, generation: 1)]))
        let input = Agent.Input.measured(1, generation: 1, [level(5)], at: now)
        #expect(readings(agent.handle(input, now: now)) == ["1 level 5"])
        #expect(agent.telemeter.waitingCount == 1)
        #expect(readings(agent.handle(.reported(0, [level(6)]), now: now)) == ["2 level 6"])
    }

    @Test func whatAnEarlierSensorGivesComesTooLate() {
        _ = agent.handle(.configure([Agent.SensorPlan("a", period: .seconds(1))]), now: now)
        _ = agent.handle(.configure([Agent.SensorPlan("b", period: .seconds(1))]), now: now)
        let input = Agent.Input.measured(0, generation: 1, [level(5)], at: now)
        #expect(agent.handle(input, now: now).isEmpty)
        #expect(agent.telemeter.readingCount == 0)
    }

    @Test func aSensorThatHangsIsNullOnceItIsDueAgain() {
        _ = agent.handle(.configure([Agent.SensorPlan("a", period: .seconds(1))]), now: now)
        let outputs = agent.handle(.deadlineReached, now: now + .seconds(1))
        #expect(readings(outputs) == ["1 a null"])
        #expect(events(outputs).first == .sensorFailed(0))
        #expect(agent.sensors.status(of: 0)?.isOverdue == true)
        #expect(agent.drops[.samplerQueueFull] == 1)
    }

    @Test func aSensorThatNobodyWasFreeToAskHasItsTurnAgain() {
        _ = agent.handle(.configure([Agent.SensorPlan("a", period: .seconds(1))]), now: now)
        #expect(agent.handle(.notAsked(0), now: now).isEmpty)
        let outputs = agent.handle(.deadlineReached, now: now + .seconds(1))
        #expect(said(outputs) == said([.sample(0, generation: 1)]))
    }

    /// How many readings are in each report among these.
    private func reports(_ outputs: [Agent.Output]) throws -> [Int] {
        try events(outputs).compactMap { event in
            guard case .said(let bytes, _) = event,
                case .report(let report) = try TelemetryMessage(parsing: bytes)
            else { return nil }
            return report.entries.count
        }
    }

    @Test func aReportLeavesAtOnceIfNoSensorIsDueByThen() throws {
        agent.interpret(.collector(PeerID(high: 2, low: 2)), now)
        let plans = ["a", "b"].map { Agent.SensorPlan($0, period: .seconds(2)) }
        _ = agent.handle(.configure(plans), now: now)
        let first = agent.handle(.measured(0, generation: 1, [level(1)], at: now), now: now)
        #expect(try reports(first) == [])
        let last = agent.handle(.measured(1, generation: 1, [level(2)], at: now), now: now)
        #expect(try reports(last) == [2])
        // The other one is read half a second later, after `wait`.
        let next = now + .milliseconds(1_500)
        #expect(said(agent.handle(.deadlineReached, now: next)).contains("sample(1"))
        let alone = agent.handle(.measured(1, generation: 1, [level(3)], at: next), now: next)
        #expect(try reports(alone) == [1])
        // What a sensor reports on its own waits for company.
        #expect(try reports(agent.handle(.reported(0, [level(4)]), now: next)) == [])
        let due = next + .milliseconds(250)
        #expect(try reports(agent.handle(.deadlineReached, now: due)) == [1])
    }

    @Test func aReportWaitsForSensorsThatAreDueByThenAndForNoneThatHangs() throws {
        agent.interpret(.collector(PeerID(high: 2, low: 2)), now)
        let plans = ["a", "b"].map { Agent.SensorPlan($0, period: .milliseconds(400)) }
        _ = agent.handle(.configure(plans), now: now)
        let first = agent.handle(.measured(0, generation: 1, [level(1)], at: now), now: now)
        #expect(try reports(first) == [])
        // The second one is due again, and has not come back.
        let overdue = now + .milliseconds(300)
        #expect(try reports(agent.handle(.deadlineReached, now: overdue)) == [2])
        let second = now + .milliseconds(400)
        _ = agent.handle(.deadlineReached, now: second)
        let input = Agent.Input.measured(0, generation: 1, [level(2)], at: second)
        #expect(try reports(agent.handle(input, now: second)) == [1])
    }

    @Test func aSpoolThatFailsIsToldOnceAndThatItWorksAgainToo() {
        let job = Agent.SpoolJob.append(birth: [], [])
        let fault = Agent.SpoolAnswer.failed(job, "full")
        #expect(events(agent.handle(.spool(fault), now: now)) == [.spoolFailed("full")])
        #expect(events(agent.handle(.spool(fault), now: now)) == [])
        #expect(agent.spoolFault == "full")
        let answer = Agent.SpoolAnswer.appended([], evicted: [])
        #expect(events(agent.handle(.spool(answer), now: now)) == [.spoolWorks])
        #expect(agent.spoolFault == nil)
    }

    @Test func theLastJobsOfTheSpoolAreWhatIsNotSettledAndTheEnd() {
        _ = agent.handle(.configure([Agent.SensorPlan("a", period: .seconds(1))]), now: now)
        _ = agent.handle(.measured(0, generation: 1, [level(5)], at: now), now: now)
        let jobs = agent.handle(.finish, now: now).compactMap { output in
            if case .spool(let job) = output { job } else { nil }
        }
        #expect(jobs.count == 2)
        guard case .append(_, let blocks)? = jobs.first else {
            Issue.record("\(jobs)")
            return
        }
        #expect(blocks.map(\.range) == [1..<2])
        #expect(jobs.last == .end(lastSequence: 1))
        // Sensors rest.
        let late = Agent.Input.measured(0, generation: 1, [level(6)], at: now)
        #expect(readings(agent.handle(late, now: now)) == [])
    }

    @Test func nothingIsDueEarlyAndLateIsHarmless() throws {
        _ = agent.handle(.configure([Agent.SensorPlan("a", period: .seconds(1))]), now: now)
        _ = agent.handle(.measured(0, generation: 1, [level(5)], at: now), now: now)
        let next = try #require(agent.nextDeadline)
        #expect(next > now)
        #expect(agent.handle(.deadlineReached, now: now).isEmpty)
        #expect(agent.handle(.deadlineReached, now: now + .seconds(9)).isEmpty == false)
    }
}
