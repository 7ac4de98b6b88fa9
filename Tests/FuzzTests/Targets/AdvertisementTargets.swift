import NearbyCore

@testable import Sampling
@testable import Sensors

extension FuzzTarget {
    /// What sensors advertise over Bluetooth LE.
    static let advertisements: [FuzzTarget] = [
        FuzzTarget(
            "sensor-formats",
            oneOf: [
                { _ = AdvertisedData.parts(of: Array($0)) },
                { _ = try? RuuviFormat.decode($0) },
                { _ = try? BTHomeFormat.decode($0, from: advertiser, opener: nil) },
                { _ = try? BTHomeFormat.decode($0, from: advertiser, opener: opener) },
                { _ = try? ATCFormat.decode($0, from: advertiser, opener: nil) },
                { _ = try? ATCFormat.decode($0, from: advertiser, opener: opener) },
                { _ = try? MiBeaconFormat.decode($0, from: advertiser, opener: nil) },
                { _ = try? MiBeaconFormat.decode($0, from: advertiser, opener: opener) },
            ]),
        FuzzTarget(
            "sensor-sealed", oneOf: [sealedBTHome, sealedMiBeacon, sealedThermometer]),
        FuzzTarget("sensor-advertisement") { hear($0) },
    ]

    private static let opener = CCMCipher.opener(SealedSensor.key)
    static let advertiser = AdvertiserAddress(value: 0xa4c1_38aa_bbcc, isRandom: false)

    // MARK: Sealed: what comes out is what the device put in

    @Sendable private static func sealedBTHome(_ objects: ArraySlice<UInt8>) {
        guard !objects.isEmpty else { return }
        let counter: [UInt8] = [1, 0, 0, 0]
        let nonce: [UInt8] = advertiser.bytes + [0xd2, 0xfc, 0x41] + counter
        let (sealed, tag) = SealedSensor.seal(objects, nonce: nonce)
        let data: [UInt8] = [0x41] + sealed + counter + tag
        let plain = try? BTHomeFormat.decode(([0x40] + objects)[...], from: advertiser, opener: nil)
        let opened = try? BTHomeFormat.decode(data[...], from: advertiser, opener: opener)
        precondition(opened?.values == plain?.values, "BTHome, sealed, says something else")
        precondition(opened == nil || opened?.counter == 1, "the counter is not what it was")
    }

    @Sendable private static func sealedMiBeacon(_ objects: ArraySlice<UInt8>) {
        guard !objects.isEmpty else { return }
        let head: [UInt8] = [0x5b, 0x05, 7]
        let extended: [UInt8] = [1, 0, 0]
        let nonce: [UInt8] = advertiser.bytes.reversed() + head + extended
        let (sealed, tag) = SealedSensor.seal(objects, nonce: nonce, associated: [0x11])
        let data: [UInt8] = [0x48, 0x50] + head + sealed + extended + tag
        let open: [UInt8] = [0x40, 0x50] + head + objects
        let plain = try? MiBeaconFormat.decode(open[...], from: advertiser, opener: nil)
        let opened = try? MiBeaconFormat.decode(data[...], from: advertiser, opener: opener)
        precondition(opened?.values == plain?.values, "MiBeacon, sealed, says something else")
        precondition(opened == nil || opened?.counter == 0x107, "the counter is not what it was")
    }

    @Sendable private static func sealedThermometer(_ bytes: ArraySlice<UInt8>) {
        guard bytes.count >= 3 else { return }
        let body = bytes.prefix(bytes.count < 6 ? 3 : 6)
        let head: [UInt8] = [UInt8(body.count + 8), 0x16, 0x1a, 0x18, 9]
        let (sealed, tag) = SealedSensor.seal(
            body, nonce: advertiser.bytes.reversed() + head, associated: [0x11])
        let data: [UInt8] = [9] + sealed + tag
        let opened = try? ATCFormat.decode(data[...], from: advertiser, opener: opener)
        precondition(opened?.values.count == 3, "a sealed thermometer is not understood")
    }

    // MARK: Whole advertising data, of several devices

    /// Options 1 | { who 1 | signal 1 | length 1 | advertising data }…
    private static func hear(_ bytes: [UInt8]) {
        var reader = ByteReader(bytes)
        guard let options = try? reader.readUInt8() else { return }
        let driver = BLEDriver(
            BLEDriver.Options(
                address: options & 1 == 0 ? nil : advertiser.value,
                name: options & 2 == 0 ? nil : "garden",
                key: options & 4 == 0 ? nil : SealedSensor.key,
                every: .seconds(Int64(options >> 3)), silentAfter: .seconds(120)))
        var now = Instant.zero
        while let who = try? reader.readUInt8(), let signal = try? reader.readUInt8(),
            let length = try? reader.readUInt8(),
            let data = try? reader.readBytes(min(Int(length), reader.remainingCount))
        {
            let isRandom = who & 0x40 != 0
            let value = advertiser.value ^ UInt64(who & 0x3f)
            check(
                driver.receive(
                    Array(data), from: AdvertiserAddress(value: value, isRandom: isRandom),
                    signal: Int8(bitPattern: signal), now: now),
                most: .max, until: now)
            if who & 0x80 != 0 { check(driver.sample(now: now), until: now) }
            now = now + .seconds(Int64(signal))
        }
        check(driver.sample(now: now + .seconds(86_400)), until: now)
        precondition(driver.diagnostic?.isEmpty == false, "nothing to say")
    }
}
