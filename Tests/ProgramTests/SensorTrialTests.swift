import Sensors
import Synchronization
import Telemetry
import Testing

@testable import Program

/// What `rivulet sensors --read` prints.
struct SensorTrialTests {
    @Test func commandIsRunAndItsValueHasItsUnit() {
        let yaml = """
            sensors:
              - {driver: command, run: [/bin/echo, "21.50"], name: bench, unit: Cel}
              - {driver: command, run: [/bin/false], name: dead}
            """
        #expect(
            SensorTrial.lines(ofSensorsIn: yaml) == [
                "bench 21.50 °C", "dead null (command-failed)",
            ])
    }

    @Test func mistakeInTheYAMLIsTold() {
        let lines = SensorTrial.lines(ofSensorsIn: "sensors:\n  - {driver: nothing}\n")
        #expect(lines.count == 1)
        #expect(lines.first?.hasPrefix("sensors:3:14: unknown driver nothing") == true)
    }

    @Test func whoWarmsUpIsReadTwice() {
        let driver = Warming()
        var pauses = 0
        let lines = SensorTrial.lines(of: driver, pause: { pauses += 1 })
        #expect(lines == ["use 2 %", "# warming: as a test"])
        #expect(pauses == 1)
    }

    @Test func whoIsReadyIsReadOnce() {
        let driver = Warming()
        _ = driver.sample()
        let lines = SensorTrial.lines(of: driver, pause: { Issue.record("paused") })
        #expect(lines == ["use 2 %", "# warming: as a test"])
    }
}

/// Null, then how often it was asked.
private final class Warming: SensorDriver {
    let name = "warming"
    let remark: String? = "as a test"
    private let count = Mutex<Int64>(0)

    func sample() -> [Measurement] {
        let count = count.withLock { count in
            count += 1
            return count
        }
        return [
            count == 1
                ? Measurement("use", "%", .null(.warmingUp)) : Measurement("use", "%", count)
        ]
    }
}
