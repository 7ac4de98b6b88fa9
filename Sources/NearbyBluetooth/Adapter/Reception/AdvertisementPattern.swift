/// What an advertisement's data must have for the kernel to pass it on: a structure of this type
/// that begins with these bytes.
struct AdvertisementPattern: Equatable, Sendable {
    var type: UInt8
    var beginning: [UInt8]

    /// Nodes.
    static let node = AdvertisementPattern(
        type: Advertisement.serviceData, beginning: Advertisement.uuid)

    /// Sensors: Ruuvi's company number; the services of BTHome, of ATC and pvvx, and of Xiaomi.
    static let sensors = [
        AdvertisementPattern(type: 0xff, beginning: [0x99, 0x04]),
        AdvertisementPattern(type: 0x16, beginning: [0xd2, 0xfc]),
        AdvertisementPattern(type: 0x16, beginning: [0x1a, 0x18]),
        AdvertisementPattern(type: 0x16, beginning: [0x95, 0xfe]),
    ]
}
