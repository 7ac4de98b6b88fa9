import Glibc
import NearbyCore
import Sampling
import Sensors
import Synchronization
import Telemetry
import Testing

@testable import NodeShell

/// What `rivulet sensors --read` prints.
struct SensorTrialTests {
    @Test func commandIsRunAndItsValueHasItsUnit() {
        let yaml = """
            sensors:
              - {driver: command, run: [/bin/echo, "21.50"], name: bench, unit: Cel}
              - {driver: command, run: [/bin/false], name: dead}
            """
        #expect(
            SensorTrial.read(sensorsIn: yaml)
                == .lines([
                    "bench 21.50 °C", "dead null (command-failed)",
                    "# command dead: exit status 1",
                ]))
    }

    @Test func mistakeInTheYAMLIsTold() {
        let outcome = SensorTrial.read(sensorsIn: "sensors:\n  - {driver: nothing}\n")
        guard case .bad(let mistakes) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(mistakes.count == 1)
        #expect(
            mistakes.first?.description.hasPrefix("sensors:3:14: unknown driver nothing") == true)
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

extension SensorTrialTests {
    /// A device at the other end of a pseudoterminal that says its line all the time.
    @Test func whoSpeaksByItselfIsListenedTo() throws {
        let device = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK)
        defer { close(device) }
        // TIOCSPTLCK and TIOCGPTN of <asm-generic/ioctls.h>, which Swift cannot import.
        var (isLocked, number): (Int32, Int32) = (0, -1)
        try #require(ioctl(device, 0x4004_5431, &isLocked) == 0)
        try #require(ioctl(device, 0x8004_5430, &number) == 0)
        let outcome = withSpeaker(on: device) {
            SensorTrial.read(
                sensorsIn: """
                    sensors:
                      - {driver: serial, device: /dev/pts/\(number), protocol: line, unit: Cel}
                    """)
        }
        #expect(outcome == .lines(["serial 21.50 °C"]))
    }

    /// A pipe stands for the descriptor of a sensor.
    @Test func whoSaysNothingIsNotWaitedForLong() throws {
        let silent = try #require(Speaker())
        let begin = time(nil)
        let lines = SensorTrial.lines(of: silent, pause: { Issue.record("paused") })
        #expect(lines == ["# speaker: nothing came within 3 s"])
        #expect((3...10).contains(time(nil) - begin))
        #expect(silent.isFinished.withLock { $0 })
    }

    /// `21.50` and a line's end every 50 ms for three seconds, from a thread that no other test
    /// can hold up.
    private func withSpeaker<Value>(on device: Int32, _ body: () -> Value) -> Value {
        var thread = pthread_t()
        let speak: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = {
            for _ in 0..<60 {
                _ = write(Int32(Int(bitPattern: $0)), "21.50\n", 6)
                usleep(50_000)
            }
            return nil
        }
        pthread_create(&thread, nil, speak, UnsafeMutableRawPointer(bitPattern: Int(device)))
        defer { pthread_join(thread, nil) }
        return body()
    }
}

/// Never says anything.
private final class Speaker: EventDriver {
    let name = "speaker"
    let isFinished = Mutex(false)
    let descriptor: Int32?
    private let other: Int32

    init?() {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        (descriptor, other) = (ends[0], ends[1])
    }

    deinit {
        if let descriptor { close(descriptor) }
        close(other)
    }

    func sample() -> [Measurement] { [] }
    func receive(now: Instant) -> [Measurement] { [] }
    func finish() { isFinished.withLock { $0 = true } }
}

/// Null, then how often it was asked.
private final class Warming: SensorDriver {
    let name = "warming"
    let diagnostic: String? = "as a test"
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
