import Glibc
import NearbyCore
import Telemetry
import Testing

@testable import Sampling
@testable import Sensors

/// Without a chip, as on most machines that run these tests; Tests/Lab/cases/sensors-gpio.sh has
/// chips.
struct GPIODriverTests {
    private let folder = TemporaryFolder()

    private func driver(_ mode: LineMode, state: String? = nil) -> GPIODriver {
        GPIODriver(
            GPIODriver.Settings(
                line: .pin("GPIO17", chip: nil), name: "rain", mode: mode, bias: .asIs,
                isActiveLow: false, debounce: .milliseconds(20)),
            state: state, devices: folder.path)
    }

    private var counting: LineMode {
        .count(
            .falling,
            LineMode.Pulses(
                scale: DecimalValue(coefficient: 2_794, exponent: -4), unit: "mm",
                rate: LineMode.Rate(per: .seconds(3_600), unit: "mm/h")))
    }

    @Test func withoutAChipAllIsNullAndTold() {
        let driver = driver(counting)
        #expect(driver.name == "gpio rain")
        #expect(driver.diagnostic == nil)
        #expect(
            driver.sample().map(\.text) == ["rain mm null:absent", "rain.rate mm/h null:absent"])
        #expect(driver.diagnostic?.hasPrefix("there is no GPIO chip here") == true)
        #expect(driver.descriptor == nil)
        #expect(driver.receive(now: .zero).isEmpty)
    }

    @Test func aDeviceThatIsNoneIsTold() {
        folder.write("gpiochip0", "no device")
        folder.write("gpiochipx", "")
        folder.write("gpiochip", "")
        let driver = driver(.level)
        #expect(driver.sample().map(\.text) == ["rain 1 null:failed"])
        #expect(driver.diagnostic?.hasPrefix("\(folder.path)/gpiochip0: ") == true)
    }

    @Test func aCounterThatNeverSawItsFileDoesNotWriteIt() {
        let state = CounterFolder()
        state.write("rain", "41\n")
        let driver = driver(counting, state: state.path)
        _ = driver.sample()
        driver.finish()
        #expect(state.text("rain") == "41\n")
    }

    @Test func aFinishedSensorTakesNothingAnyMore() {
        let driver = driver(.edges(.both))
        driver.finish()
        #expect(driver.sample().map(\.text) == ["rain 1 null:absent"])
        #expect(driver.descriptor == nil)
    }

    @Test func anEdgeIsDatedOnTheOtherClock() {
        // Ten seconds were spent in suspend.
        let clocks = Clocks(now: Instant(nanoseconds: 50_000_000_000), monotonic: 40_000_000_000)
        #expect(clocks.boottime(ofMonotonic: 39_999_000_000).nanoseconds == 49_999_000_000)
        #expect(clocks.boottime(ofMonotonic: 40_000_000_001) == clocks.now, "never later than now")
        #expect(clocks.boottime(ofMonotonic: .min) == .zero)
        #expect(clocks.boottime(ofMonotonic: .max) == clocks.now)
        let real = Clocks.read()
        #expect(real.now.nanoseconds >= real.monotonic)
    }
}
