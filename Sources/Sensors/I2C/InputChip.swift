import NearbyCore
import Sampling
import Telemetry

/// PCF8574 and PCF8574A: eight pins, read as they are. Nothing is written: after power-on every pin
/// is an input with a weak pull-up.
///
/// Source: NXP, PCF8574 data sheet rev. 5 (2013), §8.
struct InputChip: I2CChip {
    let channels = (0..<8).map { ExpectedChannel("p\($0)", "1") }

    func sample(_ bus: any I2CBus, now: Instant) throws(I2CFault) -> [Measurement] {
        let pins = try bus.transfer([], read: 1).first ?? 0
        return channels.enumerated().map { bit, channel in
            channel.value(Int64(pins >> UInt8(bit) & 1))
        }
    }
}
