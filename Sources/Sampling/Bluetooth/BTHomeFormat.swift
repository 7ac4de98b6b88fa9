/// BTHome, version 2 (bthome.io/format and /encryption): service data under 0xFCD2.
///
///     information 1 | [address 6, reversed] | objects
///     information 1 | [address 6, reversed] | sealed objects | counter 4 | tag 4
///
///     information: bit 0 sealed, bit 2 sent when something happens, bits 5–7 version 2; bit 1 with
///                  the address, which the format now reserves, as the reference parser has it
///                  (bthome-ble)
///     object:      id 1 | as many bytes as its id says, little-endian
package enum BTHomeFormat {
    package static let service: UInt16 = 0xfcd2
    private static let counterByteCount = 4

    package static func decode(
        _ data: ArraySlice<UInt8>, from address: AdvertiserAddress, opener: SealOpener?
    ) throws(AdvertisementFault) -> SensorAdvertisement {
        var fields = FieldReader(data)
        let information = UInt8(truncatingIfNeeded: try fields.unsigned(1))
        guard information >> 5 == 2 else { throw .unsupported }
        var own = address.bytes
        if information & 0b10 != 0 { own = Array(try fields.take(6)).reversed() }
        var result = SensorAdvertisement()
        result.isTriggered = information & 0b100 != 0
        guard information & 1 != 0 else {
            guard opener == nil else { throw .notEncrypted }
            try read(fields.remaining, into: &result)
            return result
        }
        guard let opener else { throw .keyMissing }
        let tail = counterByteCount + SealedPart.tagByteCount
        guard fields.remainingCount > tail else { throw .malformed }
        let sealed = try fields.take(fields.remainingCount - tail)
        let counter = try fields.take(counterByteCount)
        let nonce: [UInt8] = own + [0xd2, 0xfc, information] + counter
        guard let plain = opener(SealedPart(bytes: sealed, tag: fields.remaining, nonce: nonce))
        else { throw .forged }
        var number = FieldReader(counter)
        result.counter = UInt32(try number.unsigned(counterByteCount))
        try read(plain[...], into: &result)
        return result
    }

    /// An object of an unknown id ends the list, since nobody knows how long it is: what came
    /// before it counts, ids come in rising order, and new ones have the highest.
    private static func read(
        _ objects: ArraySlice<UInt8>, into result: inout SensorAdvertisement
    ) throws(AdvertisementFault) {
        var fields = FieldReader(objects)
        // How often a name has come; several of one kind are told apart by their order.
        var counts: [String: Int] = [:]
        while fields.remainingCount > 0 {
            let id = UInt8(truncatingIfNeeded: try fields.unsigned(1))
            guard let object = BTHomeObject.all[id] else { return }
            let count = counts[object.name, default: 0] + 1
            counts[object.name] = count
            let name = count == 1 ? object.name : "\(object.name).\(count)"
            try read(object, called: name, &fields, into: &result)
        }
    }

    private static func read(
        _ object: BTHomeObject, called name: String, _ fields: inout FieldReader,
        into result: inout SensorAdvertisement
    ) throws(AdvertisementFault) {
        switch object.form {
        case .unsigned(let count):
            let value = try fields.unsigned(count)
            result.add(name, object.unit, value * object.factor, object.exponent)
        case .signed(let count):
            let value = try fields.signed(count)
            result.add(name, object.unit, value * object.factor, object.exponent)
        case .counted: _ = try fields.take(Int(try fields.unsigned(1)))
        case .skipped(let count): _ = try fields.take(count)
        case .packet: result.sequence = UInt32(try fields.unsigned(1))
        case .state: result.add(name, isOn: try fields.unsigned(1) != 0)
        case .button:
            // 0: this button was not pressed, but another one of the device.
            let press = try fields.unsigned(1)
            if press != 0 { result.add(name, "1", press, kind: .event) }
        case .command:
            // What the arguments mean is the maker's affair.
            let count = Int(try fields.unsigned(1) & 0x1f)
            let opcode = try fields.unsigned(1)
            _ = try fields.take(count)
            result.add(name, "1", opcode, kind: .event)
        case .dimmer:
            let direction = try fields.unsigned(1)
            let steps = try fields.unsigned(1)
            switch direction {
            case 1: result.add(name, "1", -steps, kind: .event)
            case 2: result.add(name, "1", steps, kind: .event)
            default: break
            }
        }
    }
}
