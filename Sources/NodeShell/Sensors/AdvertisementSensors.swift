import NearbyBluetooth
import NearbyCore
import Sampling
import Sensors

/// Hands what is heard over Bluetooth LE to the sensors that listen for it.
struct AdvertisementSensors {
    private let listening: [(sensor: Int, driver: any AdvertisementDriver)]

    /// Those of an agent's sensors that listen; each keeps its place as its number.
    init(_ sensors: [any SensorDriver] = []) {
        listening = sensors.enumerated().compactMap { index, sensor in
            (sensor as? any AdvertisementDriver).map { (index, $0) }
        }
    }

    var isEmpty: Bool { listening.isEmpty }

    var drivers: [any AdvertisementDriver] { listening.map(\.driver) }

    /// What each sensor makes of an advertisement. Whom a driver names is no concern of those that
    /// take everybody.
    func receive(
        _ heard: HeardAdvertisement, now: Instant
    ) -> [(sensor: Int, measurements: [Measurement])] {
        let named = listening.filter { $0.driver.address == heard.address.value }
        let address = AdvertiserAddress(
            value: heard.address.value, isRandom: heard.address.kind == .lowEnergyRandom)
        return (named.isEmpty ? listening.filter { $0.driver.address == nil } : named).map {
            (
                $0.sensor,
                $0.driver.receive(heard.data, from: address, signal: heard.rssi, now: now)
            )
        }
    }
}

/// What somebody who is no node advertises.
struct HeardAdvertisement {
    /// Advertising data as received.
    var data: [UInt8]
    var address: BluetoothAddress
    /// dBm; 127 where the controller cannot tell.
    var rssi: Int8
}
