/// Xiaomi's thermometers with the firmware of atc1441 or of pvvx (both projects' README,
/// ATC_MiThermometer; pvvx's src/custom_beacon.c): service data under 0x181A, told apart by its
/// length.
///
///     13  address 6 | temperature 2 | humidity 1 | battery 1 | millivolts 2 | counter 1
///     15  address 6 | temperature 2 | humidity 2 | millivolts 2 | battery 1 | counter 1 | flags 1
///     14  the same without the flags, from devices that have no such pin
///     11  counter 1 | sealed: temperature 2 | humidity 2 | battery 1 | flags 1 | tag 4
///      8  counter 1 | sealed: temperature 1 | humidity 1 | battery 1 | tag 4
///
/// The first is big-endian, the others little-endian. The flags tell of a pin that thermometers do
/// not use; they are left out.
///
/// A sealed one has a counter of one byte: it tells repetitions, and cannot keep anybody from
/// playing back what was heard long ago. pvvx's own words: low security level.
package enum ATCFormat {
    package static let service: UInt16 = 0x181a

    package static func decode(
        _ data: ArraySlice<UInt8>, from address: AdvertiserAddress, opener: SealOpener?
    ) throws(AdvertisementFault) -> SensorAdvertisement {
        switch (data.count, opener) {
        case (13, nil): return try original(data, address)
        case (14, nil), (15, nil): return try custom(data, address)
        case (13, _?), (14, _?), (15, _?): throw .notEncrypted
        case (8, let opener), (11, let opener): return try sealed(data, address, opener)
        // The environmental sensing service is everybody's.
        default: throw .unsupported
        }
    }

    private static func original(
        _ data: ArraySlice<UInt8>, _ address: AdvertiserAddress
    ) throws(AdvertisementFault) -> SensorAdvertisement {
        var fields = FieldReader(data)
        guard try fields.take(6).elementsEqual(address.bytes) else { throw .unsupported }
        var result = SensorAdvertisement()
        result.add("temperature", "Cel", try fields.signedBigEndian(2), -1)
        result.add("humidity", "%RH", try fields.bigEndian(1))
        result.add("battery", "%EL", try fields.bigEndian(1))
        result.add("battery.voltage", "V", try fields.bigEndian(2), -3)
        result.sequence = UInt32(try fields.bigEndian(1))
        return result
    }

    private static func custom(
        _ data: ArraySlice<UInt8>, _ address: AdvertiserAddress
    ) throws(AdvertisementFault) -> SensorAdvertisement {
        var fields = FieldReader(data)
        guard try fields.take(6).elementsEqual(address.bytes.reversed()) else {
            throw .unsupported
        }
        var result = SensorAdvertisement()
        result.add("temperature", "Cel", try fields.signed(2), -2)
        result.add("humidity", "%RH", try fields.unsigned(2), -2)
        result.add("battery.voltage", "V", try fields.unsigned(2), -3)
        result.add("battery", "%EL", try fields.unsigned(1))
        result.sequence = UInt32(try fields.unsigned(1))
        return result
    }

    private static func sealed(
        _ data: ArraySlice<UInt8>, _ address: AdvertiserAddress, _ opener: SealOpener?
    ) throws(AdvertisementFault) -> SensorAdvertisement {
        guard let opener else { throw .keyMissing }
        let counter = data.prefix(1)
        // The head of the AD structure belongs to the nonce: its length, its type, the UUID.
        let head = [UInt8(data.count + 3), 0x16, 0x1a, 0x18]
        let nonce: [UInt8] = address.bytes.reversed() + head + counter
        let body = data.dropFirst().dropLast(SealedPart.tagByteCount)
        guard
            let plain = opener(
                SealedPart(
                    bytes: body, tag: data.suffix(SealedPart.tagByteCount), nonce: nonce,
                    associated: [0x11]))
        else { throw .forged }
        var fields = FieldReader(plain[...])
        var result = SensorAdvertisement()
        if plain.count == 6 {
            result.add("temperature", "Cel", try fields.signed(2), -2)
            result.add("humidity", "%RH", try fields.unsigned(2), -2)
            result.add("battery", "%EL", min(100, try fields.unsigned(1)))
        } else {
            // Halves of a degree above −40 °C, halves of a per cent.
            result.add("temperature", "Cel", try fields.unsigned(1) * 5 - 400, -1)
            result.add("humidity", "%RH", try fields.unsigned(1) * 5, -1)
            result.add("battery", "%EL", min(100, try fields.unsigned(1) & 0x7f))
        }
        result.sequence = counter.first.map(UInt32.init)
        return result
    }
}
