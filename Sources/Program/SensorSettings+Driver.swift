import Boards
import Configuration
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
                    key: ble.key, every: every, silentAfter: ble.silentAfter))
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
    fileprivate init(_ gpio: GPIOSettings) {
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
        let (time, symbol): (Duration, String)
        switch gpio.rate {
        case .off: return nil
        case .second: (time, symbol) = (.seconds(1), "s")
        case .hour: (time, symbol) = (.seconds(3_600), "h")
        }
        self.init(per: time, unit: gpio.rateUnit ?? "\(gpio.unit)/\(symbol)")
    }
}
