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
        case .ble(let ble):
            BLEDriver(
                .init(
                    address: ble.address.flatMap(AdvertiserAddress.value), name: ble.name,
                    key: ble.key, every: every, silentAfter: ble.silentAfter))
        }
    }
}
