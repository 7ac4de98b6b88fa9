import NearbyCore
import NearbyLinux
import Sampling
import Sensors

/// Lets the event loop wait for the sensors that speak by themselves.
///
/// Their drivers open on a worker, in `sample`, and close in `receive`; so what the loop waits for
/// is compared after each of the two.
final class EventSensors {
    /// Gets what a sensor, by its number, gave by itself.
    var give: ((_ sensor: Int, _ measurements: [Measurement], _ now: Instant) -> Void)?
    private let loop: EventLoop
    private let log: StandardErrorLog
    private var drivers: [(any EventDriver)?] = []
    /// What the loop waits for, by sensor.
    private var watched: [Int32?] = []
    private var isRefused: [Bool] = []

    init(_ loop: EventLoop, _ log: StandardErrorLog) {
        self.loop = loop
        self.log = log
    }

    /// Forgets the sensors so far and takes up these; gives those whose `finish` is still to be
    /// called.
    func replace(with sensors: [any SensorDriver]) -> [any EventDriver] {
        let earlier = drivers.compactMap { $0 }
        for descriptor in watched { if let descriptor { loop.unregister(descriptor) } }
        drivers = sensors.map { $0 as? any EventDriver }
        watched = sensors.map { _ in nil }
        isRefused = sensors.map { _ in false }
        return earlier
    }

    /// The sensor may have opened or closed.
    func compare(_ sensor: Int) {
        guard drivers.indices.contains(sensor), let driver = drivers[sensor] else { return }
        let descriptor = driver.descriptor
        if let earlier = watched[sensor] {
            // A descriptor that was closed and opened again meanwhile has its number, but epoll has
            // forgotten it.
            if descriptor == earlier, (try? loop.setInterest(.readable, of: earlier)) != nil {
                return
            }
            loop.unregister(earlier)
            watched[sensor] = nil
        }
        guard let descriptor else { return }
        do {
            try loop.register(descriptor) { [unowned self] _ in receive(sensor) }
            watched[sensor] = descriptor
        } catch {
            if !isRefused[sensor] { log.write(.error, "\(driver.name): \(error)") }
            isRefused[sensor] = true
        }
    }

    private func receive(_ sensor: Int) {
        guard let driver = drivers[sensor] else { return }
        let now = MonotonicClock.now()
        let measurements = driver.receive(now: now)
        compare(sensor)
        give?(sensor, measurements, now)
    }
}
