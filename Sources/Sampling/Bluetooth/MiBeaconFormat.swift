/// Xiaomi's MiBeacon, versions 2 to 5 (iot.mi.com, "BLE MiBeacon protocol"): service data under
/// 0xFE95, little-endian.
///
///     control 2 | product 2 | frame counter 1 | [address 6, reversed]
///         | [capability 1 | [input and output 1]] | objects
///     or, instead of the objects: sealed objects | extended counter 3 | tag 4
///
///     control: bit 3 sealed, bit 4 with the address, bit 5 with the capability, bit 6 with
///              objects, bit 7 mesh, bits 12–15 version
///     object:  type 2 | length 1 | so many bytes
///
/// Versions 2 and 3 are sealed without a tag that would prove anything; they are not read.
package enum MiBeaconFormat {
    package static let service: UInt16 = 0xfe95
    private static let extendedCounterByteCount = 3

    package static func decode(
        _ data: ArraySlice<UInt8>, from address: AdvertiserAddress, opener: SealOpener?
    ) throws(AdvertisementFault) -> SensorAdvertisement {
        var fields = FieldReader(data)
        let control = try fields.unsigned(2)
        let version = control >> 12
        guard version >= 2, control & 1 << 7 == 0 else { throw .unsupported }
        // What follows the control word up to the address belongs to the nonce.
        let head = try fields.take(3)
        guard let frame = head.last else { throw .malformed }
        var words = FieldReader(head)
        let product = UInt16(truncatingIfNeeded: try words.unsigned(2))
        if control & 1 << 4 != 0 {
            let own = try fields.take(6)
            guard own.elementsEqual(address.bytes.reversed()) else { throw .malformed }
        }
        if control & 1 << 5 != 0, try fields.unsigned(1) & 0x20 != 0 { _ = try fields.take(1) }
        var result = SensorAdvertisement()
        // Without objects it only says that it is there.
        guard control & 1 << 6 != 0 else { return result }
        guard control & 1 << 3 != 0 else {
            guard opener == nil else { throw .notEncrypted }
            result.sequence = UInt32(frame)
            try MiBeaconObject.read(fields.remaining, of: product, into: &result)
            return result
        }
        guard version >= 4 else { throw .unsupported }
        guard let opener else { throw .keyMissing }
        let tail = extendedCounterByteCount + SealedPart.tagByteCount
        guard fields.remainingCount > tail else { throw .malformed }
        let sealed = try fields.take(fields.remainingCount - tail)
        let extended = try fields.take(extendedCounterByteCount)
        let nonce: [UInt8] = address.bytes.reversed() + head + extended
        guard
            let plain = opener(
                SealedPart(
                    bytes: sealed, tag: fields.remaining, nonce: nonce, associated: [0x11]))
        else { throw .forged }
        var number = FieldReader(extended)
        result.counter =
            UInt32(try number.unsigned(extendedCounterByteCount)) << 8 | UInt32(frame)
        try MiBeaconObject.read(plain[...], of: product, into: &result)
        return result
    }
}
