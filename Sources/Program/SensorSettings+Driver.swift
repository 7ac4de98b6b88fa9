import Configuration
import Sensors

extension SensorSettings {
    /// The driver that these settings ask for.
    func makeDriver() -> any SensorDriver {
        switch driver {
        case .system(let system): SystemDriver(disks: system.disks)
        case .command(let command):
            CommandDriver(
                run: command.run, timeLimit: command.timeLimit, channel: command.name,
                unit: command.unit)
        case .replay(let replay): ReplayDriver(file: replay.file, speed: replay.speed)
        case .serial(let serial):
            SerialDriver(
                device: serial.device, kind: serial.spoken.rawValue, baud: serial.baud,
                protocol: serial.driverProtocol, channel: serial.name,
                expiry: serial.expiresAfter ?? max(every * 3, .seconds(10)))
        case .i2c(let i2c):
            I2CDriver(
                i2c.driverDevice, kind: i2c.device.rawValue, bus: i2c.bus, address: i2c.address,
                channel: i2c.name)
        }
    }
}

extension SerialSettings {
    fileprivate var driverProtocol: SerialProtocol {
        switch spoken {
        case .pms5003, .pms7003: .plantower
        case .sds011: .nova
        case .mhz19: .winsen
        case .nmea: .nmea
        case .line:
            // The configuration was refused if it is none.
            if let pattern = pattern.flatMap({ LinePattern($0) }) {
                .pattern(pattern, channels)
            } else {
                .lines(unit: unit)
            }
        }
    }
}

extension I2CSettings {
    fileprivate var driverDevice: I2CDevice {
        switch device {
        case .vl53l0x: .distance
        case .scd4x: .carbonDioxide
        case .ads1115: .voltages(inputs: inputs, gain: gain)
        case .pcf8574: .inputs
        }
    }
}
