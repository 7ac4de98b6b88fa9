import AgentComposition
import Boards
import Configuration
import NearbyCore
import NearbyLinux
import Sampling
import Sensors

/// The drivers of an agent's sensors: asked on workers, listened to on the loop.
final class SensorDrivers {
    /// What a driver gave when it was asked.
    struct Result: Sendable {
        var sensor: Int
        var generation: Int
        var measurements: [Measurement]
        var time: Instant
    }

    let results: Mailbox<Result>
    /// In the order of their numbers.
    private(set) var drivers: [any SensorDriver] = []
    private let workers: WorkerPool
    private let pins: BoardPins
    /// For what should outlast the agent.
    private let state: String
    private let events: EventSensors
    private var listeners = AdvertisementSensors()

    init(_ program: NodeProgram, pins: BoardPins) throws(SystemError) {
        workers = program.workers
        state = program.settings.state
        self.pins = pins
        events = EventSensors(program.loop, program.log)
        results = try Mailbox()
    }

    /// Gets what a sensor gave by itself.
    var onReport: ((_ sensor: Int, _ measurements: [Measurement], _ now: Instant) -> Void)? {
        get { events.give }
        set { events.give = newValue }
    }

    /// Whether any of them listens to advertisements.
    var areListening: Bool { !listeners.isEmpty }

    /// Takes these drivers in the place of those so far.
    func apply(_ settings: [SensorSettings]) -> [Agent.SensorPlan] {
        drivers = settings.map { $0.makeDriver(state: state, pins: pins) }
        // Ahead of the new ones' first sample: they may want what the earlier hold.
        for driver in events.replace(with: drivers) where !workers.run({ driver.finish() }) {
            driver.finish()
        }
        for driver in listeners.drivers where !workers.run({ driver.finish() }) {
            driver.finish()
        }
        listeners = AdvertisementSensors(drivers)
        return zip(settings, drivers).map { settings, driver in
            Agent.SensorPlan(
                driver.name, period: settings.every, shape: settings.sampling.shape,
                channelShapes: settings.sampling.channels,
                givesParts: driver is any EventDriver || driver is any AdvertisementDriver)
        }
    }

    /// Asks a sensor; false if too many wait already.
    func sample(_ sensor: Int, generation: Int) -> Bool {
        let (driver, results) = (drivers[sensor], results)
        return workers.run {
            let measurements = driver.sample()
            _ = results.post(
                Result(
                    sensor: sensor, generation: generation, measurements: measurements,
                    time: MonotonicClock.now()))
        }
    }

    /// The sensor may have opened or closed while it was asked.
    func sampled(_ sensor: Int) { events.compare(sensor) }

    func receive(_ heard: HeardAdvertisement, now: Instant) {
        for (sensor, measurements) in listeners.receive(heard, now: now) {
            onReport?(sensor, measurements, now)
        }
    }

    /// The last of all; it may take its time.
    func finish() {
        CommandDriver.endAll()
        for driver in events.replace(with: []) { driver.finish() }
        for driver in listeners.drivers { driver.finish() }
        listeners = AdvertisementSensors()
    }
}
