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
        case .iio(let iio): iio.makeDriver()
        case .hwmon(let hwmon):
            HwmonDriver(device: hwmon.device, staleAfter: hwmon.staleAfter)
        case .thermal(let thermal): ThermalDriver(zone: thermal.zone)
        case .w1(let w1): OneWireDriver(ids: w1.ids, staleAfter: w1.staleAfter)
        case .power(let power): PowerDriver(supply: power.supply)
        }
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
