import Boards
import Configuration
import Glibc
import NearbyCore
import NearbyLinux
import Sampling
import Sensors
import Telemetry

extension Limits {
    /// How long a trial waits for a sensor that speaks by itself; most do each second.
    static let trialWait: Duration = .seconds(3)
    /// How long it waits for more, once something came.
    static let trialWaitForMore: Duration = .milliseconds(1_200)
}

/// Reads sensors once, by the very drivers that the agent uses.
package enum SensorTrial {
    /// Decodes a list `sensors:` in YAML and reads each of them. A line for each channel:
    /// `name value unit`, or `name null (reason)`.
    package static func read(sensorsIn yaml: String) -> Outcome {
        // The rest of a configuration has defaults, but for who is let in.
        read(Settings.decode(Array(("trust: any\n" + yaml).utf8), file: "sensors"))
    }

    /// As `read(sensorsIn:)`, of a whole configuration.
    package static func read(sensorsInFile path: String) -> Outcome { read(Settings.load(path)) }

    package enum Outcome: Equatable {
        case lines([String])
        /// Nothing was read.
        case bad([Mistake])
    }

    private static func read(_ outcome: Settings.Outcome) -> Outcome {
        switch outcome {
        case .bad(let mistakes): .bad(mistakes)
        case .good(let settings): .lines(settings.sensors.flatMap(lines(of:)))
        }
    }

    private static func lines(of sensor: SensorSettings) -> [String] {
        lines(of: sensor.makeDriver(state: nil, pins: BoardPins()), pause: { sleep(1) })
    }

    /// A driver that tells differences (of the processor's use, of a counter) warms up with its
    /// first sample; then a second one follows after the pause.
    static func lines(of driver: any SensorDriver, pause: () -> Void) -> [String] {
        if let speaker = driver as? any EventDriver { return listen(to: speaker) }
        var measurements = driver.sample()
        if measurements.contains(where: { $0.outcome == .null(.warmingUp) }) {
            pause()
            measurements = driver.sample()
        }
        return lines(measurements, of: driver, orElse: "nothing to read")
    }

    /// What it knows when it is asked, else what it says by itself within `Limits.trialWait`.
    private static func listen(to speaker: any EventDriver) -> [String] {
        defer { speaker.finish() }
        let begin = MonotonicClock.now()
        var measurements = speaker.sample()
        var deadline = begin + Limits.trialWait
        var hasValue = measurements.contains { $0.outcome.value != nil }
        let isKnown = hasValue
        while !isKnown, let descriptor = speaker.descriptor {
            let rest = deadline - MonotonicClock.now()
            guard rest > .zero else { break }
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&entry, 1, Int32(clamping: rest.milliseconds + 1)) > 0 else { continue }
            let now = MonotonicClock.now()
            let heard = speaker.receive(now: now)
            replace(heard, in: &measurements)
            if !hasValue, heard.contains(where: { $0.outcome.value != nil }) {
                hasValue = true
                deadline = min(deadline, now + Limits.trialWaitForMore)
            }
        }
        // A line that had to settle says no more by itself than that it has.
        if !hasValue { replace(speaker.sample(), in: &measurements) }
        return lines(
            measurements, of: speaker,
            orElse: "nothing came within \(Limits.trialWait.components.seconds) s")
    }

    private static func replace(_ newer: [Measurement], in measurements: inout [Measurement]) {
        for measurement in newer {
            if let index = measurements.firstIndex(where: { $0.channel == measurement.channel }) {
                measurements[index] = measurement
            } else {
                measurements.append(measurement)
            }
        }
    }

    private static func lines(
        _ measurements: [Measurement], of driver: any SensorDriver, orElse nothing: String
    ) -> [String] {
        let diagnostic = [driver.fault, driver.diagnostic].compactMap { $0 }.map {
            "# \(driver.name): \($0)"
        }
        guard !measurements.isEmpty else { return ["# \(driver.name): \(nothing)"] + diagnostic }
        return measurements.map(line) + diagnostic
    }

    private static func line(of measurement: Measurement) -> String {
        switch measurement.outcome {
        case .null(let reason): return "\(measurement.channel) null (\(reason))"
        case .value(let value):
            let symbol = measurement.unit == "1" ? "" : Unit(measurement.unit)?.symbol ?? ""
            return "\(measurement.channel) \(value)" + (symbol.isEmpty ? "" : " \(symbol)")
        }
    }
}
