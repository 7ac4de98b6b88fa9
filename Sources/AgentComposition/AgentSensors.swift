import NearbyCore
import Sampling
import Telemetry

/// An agent's sensors: which to ask when, what of their measurements becomes a reading, and how
/// they do.
public struct AgentSensors {
    enum Input: Sendable {
        case configure([Agent.SensorPlan])
        case measured(Int, _ generation: Int, [Measurement], at: Instant)
        case notAsked(Int)
        case reported(Int, [Measurement])
        case deadlineReached
    }

    enum Output: Sendable {
        case sample(Int)
        case reading(Sample)
        case event(Agent.Event)
        case drop(DropReason)
    }

    /// A class, as `Agent` is: nobody copies one.
    private final class Sensor {
        let plan: Agent.SensorPlan
        /// What it gave last.
        var channels: KnownChannels
        var sampler: Sampler
        var health: SensorHealth
        /// It was due again while it was still being read.
        var isOverdue = false

        init(_ plan: Agent.SensorPlan, now: Instant) {
            self.plan = plan
            channels = KnownChannels(plan.name, unit: "1")
            sampler = Sampler(plan.shape, channels: plan.channelShapes)
            health = SensorHealth(now: now)
        }
    }

    /// Raised with every change of the sensors: results of earlier ones are out of date.
    private(set) var generation = 0
    /// In the order of their numbers.
    private var sensors: [Sensor] = []
    private var schedule = SamplingSchedule(periods: [])

    mutating func handle(_ input: Input, now: Instant) -> [Output] {
        switch input {
        case .configure(let plans):
            generation += 1
            sensors = plans.map { Sensor($0, now: now) }
            schedule = SamplingSchedule(periods: plans.map(\.period))
            return follow(schedule.handle(.start, now: now), now)
        case .measured(let sensor, generation, let measurements, let time):
            guard sensors.indices.contains(sensor) else { return [] }
            let due = follow(schedule.handle(.completed(sensor), now: now), now)
            sensors[sensor].isOverdue = false
            sensors[sensor].channels.record(measurements)
            return due + receive(measurements, of: sensor, from: time, now)
        case .measured: return []
        case .notAsked(let sensor):
            let due = follow(schedule.handle(.completed(sensor), now: now), now)
            return [.drop(.samplerQueueFull)] + due
        case .reported(let sensor, let measurements):
            guard sensors.indices.contains(sensor) else { return [] }
            return receive(measurements, of: sensor, from: now, now)
        case .deadlineReached:
            return follow(schedule.handle(.deadlineReached, now: now), now)
        }
    }

    var nextDeadline: Instant? { schedule.nextDeadline }

    /// Whether a measurement is under way, or due by then. What sensors report on their own comes
    /// when it comes.
    func expectReading(by time: Instant) -> Bool { schedule.expectsSample(by: time) }

    /// How a sensor does, and whether it is still being read though it is due again; nil if there
    /// is no such sensor.
    public func status(of sensor: Int) -> (health: SensorHealth, isOverdue: Bool)? {
        guard sensors.indices.contains(sensor) else { return nil }
        return (sensors[sensor].health, sensors[sensor].isOverdue)
    }

    private mutating func follow(
        _ wanted: [SamplingSchedule.Output], _ now: Instant
    ) -> [Output] {
        var outputs: [Output] = []
        for output in wanted {
            switch output {
            case .sample(let sensor): outputs.append(.sample(sensor))
            case .overdue(let sensor):
                // One that hangs is null.
                outputs.append(.drop(.samplerQueueFull))
                sensors[sensor].isOverdue = true
                let nulls = sensors[sensor].channels.nulls(.timeout)
                outputs += receive(nulls, of: sensor, from: now, now)
            }
        }
        return outputs
    }

    private mutating func receive(
        _ measurements: [Measurement], of sensor: Int, from time: Instant, _ now: Instant
    ) -> [Output] {
        var outputs: [Output] = []
        let isWhole = !sensors[sensor].plan.givesParts
        switch sensors[sensor].health.record(measurements, isWhole: isWhole, now: now) {
        case .failed: outputs.append(.event(.sensorFailed(sensor)))
        case .recovered: outputs.append(.event(.sensorRecovered(sensor)))
        case nil: break
        }
        let shaped = sensors[sensor].sampler.shape(measurements, now: time)
        for refused in sensors[sensor].sampler.takeRefused() {
            outputs.append(.event(.unitRefused(sensor, refused)))
        }
        for measurement in shaped {
            let sample = Sample(measurement, time: max(.zero, measurement.time ?? time))
            outputs.append(sample.map(Output.reading) ?? .drop(.reportMalformed))
        }
        return outputs
    }
}

extension Sample {
    /// Nil where the channel's name or unit cannot be used.
    fileprivate init?(_ measurement: Measurement, time: Instant) {
        let unit = measurement.unit == "1" ? Unit.none : Unit(measurement.unit)
        guard let unit,
            let channel = ChannelDescription(
                name: measurement.channel, unit: unit,
                scale: measurement.outcome.value?.exponent ?? 0)
        else { return nil }
        self.init(channel: channel, outcome: measurement.outcome, time: time)
    }
}
