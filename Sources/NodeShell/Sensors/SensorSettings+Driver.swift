import Boards
import Configuration
import Sampling
import Sensors
import Telemetry

extension SensorSettings {
    /// The driver that these settings ask for. `directory` is for what should outlast the agent;
    /// nil: nothing does. `pins` tells where the board's header has its lines.
    func makeDriver(state directory: String?, pins: BoardPins) -> any SensorDriver {
        switch driver {
        case .system(let system): SystemDriver(disks: system.disks)
        case .command(let command):
            CommandDriver(
                run: command.run, timeLimit: command.timeLimit, channel: command.name,
                unit: command.unit)
        case .replay(let replay): ReplayDriver(file: replay.file, speed: replay.speed)
        case .gpio(let gpio):
            GPIODriver(
                GPIODriver.Settings(gpio), state: directory, header: { pins.place(of: $0) })
        case .ble(let ble):
            BLEDriver(
                .init(
                    address: ble.address.flatMap(AdvertiserAddress.value), name: ble.name,
                    key: ble.key, every: every, silentAfter: ble.silentAfter, state: directory))
        case .serial(let serial):
            SerialDriver(
                device: serial.device, kind: serial.spoken.rawValue, baud: serial.baud,
                protocol: serial.driverProtocol, channel: serial.name,
                expiry: serial.expiresAfter ?? max(every * 3, .seconds(10)))
        case .i2c(let i2c):
            I2CDriver(
                i2c.driverDevice, kind: i2c.device.rawValue, bus: i2c.bus, address: i2c.address,
                channel: i2c.name)
        case .iio(let iio): iio.makeDriver()
        case .hwmon(let hwmon):
            HwmonDriver(device: hwmon.device, staleAfter: hwmon.staleAfter)
        case .thermal(let thermal): ThermalDriver(zone: thermal.zone)
        case .w1(let w1): OneWireDriver(ids: w1.ids, staleAfter: w1.staleAfter)
        case .power(let power): PowerDriver(supply: power.supply)
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

extension GPIODriver.Settings {
    fileprivate init(_ gpio: GPIOSettings) {
        self.init(
            line: LineName(gpio), name: gpio.name, mode: LineMode(gpio),
            bias: LineBias(rawValue: gpio.bias.rawValue) ?? .asIs, isActiveLow: gpio.isActiveLow,
            debounce: gpio.debounce)
    }
}

extension LineName {
    init(_ gpio: GPIOSettings) {
        self =
            if let pin = gpio.pin { .pin(pin, chip: gpio.chip) } else {
                .line(UInt32(clamping: gpio.line ?? 0), chip: gpio.chip ?? "")
            }
    }
}

extension LineMode {
    fileprivate init(_ gpio: GPIOSettings) {
        if let edges = gpio.count.flatMap({ LineEdges(rawValue: $0.rawValue) }) {
            let scale = (try? DecimalValue(parsing: gpio.scale)) ?? DecimalValue(coefficient: 1)
            self = .count(edges, Pulses(scale: scale, unit: gpio.unit, rate: Rate(gpio)))
        } else if let edges = gpio.edges.flatMap({ LineEdges(rawValue: $0.rawValue) }) {
            self = .edges(edges)
        } else {
            self = .level
        }
    }
}

extension LineMode.Rate {
    fileprivate init?(_ gpio: GPIOSettings) {
        let time: Duration
        switch gpio.rate {
        case .off: return nil
        case .second: time = .seconds(1)
        case .hour: time = .seconds(3_600)
        }
        self.init(per: time, unit: gpio.unitOfRate)
    }
}

extension IIOSettings {
    fileprivate func makeDriver() -> any SensorDriver {
        guard isBuffered, let device else {
            return IIODriver(device: device, channels: channels, staleAfter: staleAfter)
        }
        return IIOBufferDriver(
            device: device, channels: channels, trigger: trigger, frequency: frequency)
    }
}
