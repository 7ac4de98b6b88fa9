import Glibc
import NearbyCore
import Sampling
import Synchronization
import Telemetry

/// A device that can be read over I²C without a driver of the kernel.
public enum I2CDevice: Sendable {
    /// ST's VL53L0X: distance.
    case distance
    /// Sensirion's SCD40 or SCD41: CO₂, temperature, humidity.
    case carbonDioxide
    /// TI's ADS1115: volts. Inputs as its register numbers them, 0–7; so the gain, 0–5.
    case voltages(inputs: [Int], gain: Int)
    /// NXP's and TI's PCF8574: eight inputs.
    case inputs

    fileprivate var chip: any I2CChip {
        switch self {
        case .distance: TimeOfFlightChip()
        case .carbonDioxide: CarbonDioxideChip()
        case .voltages(let inputs, let gain): VoltageChip(inputs: inputs, gain: gain)
        case .inputs: InputChip()
        }
    }
}

/// Reads one device, talking to it as its datasheet says.
///
/// A sample takes at most 100 ms of waiting: what takes longer goes on in the next.
protocol I2CChip: Sendable {
    /// What becomes null when the device cannot be read.
    var channels: [ExpectedChannel] { get }
    /// Nothing where there is nothing new yet.
    mutating func sample(_ bus: any I2CBus, now: Instant) throws(I2CFault) -> [Measurement]
    /// It could not be read, and may have lost its power: forgets what it was told.
    mutating func restart()
}

extension I2CChip {
    mutating func restart() {}

    func nulls(_ reason: NullReason) -> [Measurement] { channels.map { $0.null(reason) } }
}

/// Reads a device on an I²C bus that no driver of the kernel has.
public final class I2CDriver: SensorDriver {
    public let name: String
    private let prefix: String?
    private let open: @Sendable () throws(I2CFault) -> any I2CBus
    private let chip: Mutex<any I2CChip>
    /// Apart from the chip, which is locked while it is read.
    private let fault = Mutex<String?>(nil)

    /// `channel` is what the channels' names begin with; `kind` is the device's name for people.
    public convenience init(
        _ device: I2CDevice, kind: String, bus: Int, address: Int, channel: String?
    ) {
        self.init(
            device, name: "i2c \(kind) \(bus)-\(LinuxI2CBus.hexadecimal(address))",
            channel: channel
        ) { () throws(I2CFault) in try LinuxI2CBus(bus: bus, address: address) }
    }

    init(
        _ device: I2CDevice, name: String, channel: String?,
        open: @escaping @Sendable () throws(I2CFault) -> any I2CBus
    ) {
        self.name = name
        prefix = channel
        self.open = open
        chip = Mutex(device.chip)
    }

    public var diagnostic: String? { fault.withLock { $0 } }

    /// The bus is opened each time: it costs nothing, and one that was away is found again.
    public func sample() -> [Measurement] {
        let (measurements, message) = chip.withLock { chip -> ([Measurement], String?) in
            do throws(I2CFault) {
                return (try chip.sample(try open(), now: Self.now()), nil)
            } catch {
                chip.restart()
                return (chip.nulls(error.reason), error.message)
            }
        }
        fault.withLock { $0 = message }
        guard let prefix else { return measurements }
        return measurements.map { measurement in
            var named = measurement
            named.channel = "\(prefix).\(measurement.channel)"
            return named
        }
    }

    private static func now() -> Instant {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}
