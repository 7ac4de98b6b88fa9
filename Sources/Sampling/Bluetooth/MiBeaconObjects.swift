/// The common objects of MiBeacon (iot.mi.com, "object definition", in English in pvvx's
/// ATC_MiThermometer, InfoMijiaBLE) and those of newer thermometers and detectors (0x48xx, 0x4Axx,
/// 0x4Cxx, by product, as the parser xiaomi-ble knows them).
enum MiBeaconObject {
    /// What is too short for its type is left out, as are types that are not known: their length
    /// leads to the next.
    static func read(
        _ objects: ArraySlice<UInt8>, of product: UInt16, into result: inout SensorAdvertisement
    ) throws(AdvertisementFault) {
        var fields = FieldReader(objects)
        while fields.remainingCount > 0 {
            let type = UInt16(truncatingIfNeeded: try fields.unsigned(2))
            let body = try fields.take(Int(try fields.unsigned(1)))
            // A half-read object must leave nothing behind.
            var whole = result
            guard (try? add(type, FieldReader(body), product, to: &whole)) != nil else { continue }
            result = whole
        }
    }

    private static func add(
        _ type: UInt16, _ body: FieldReader, _ product: UInt16,
        to result: inout SensorAdvertisement
    ) throws(AdvertisementFault) {
        if let number = numbers[type] {
            var body = body
            let raw =
                number.isSigned
                ? try body.signed(number.byteCount) : try body.unsigned(number.byteCount)
            return result.add(number.name, number.unit, raw, number.exponent)
        }
        if let (name, off) = states[type] {
            var body = body
            return result.add(name, isOn: try body.unsigned(1) != off)
        }
        try addOther(type, body, product, to: &result)
    }

    private static func addOther(
        _ type: UInt16, _ body: FieldReader, _ product: UInt16,
        to result: inout SensorAdvertisement
    ) throws(AdvertisementFault) {
        var body = body
        switch type {
        case 0x0003: result.add("motion", "1", 1, kind: .event)
        case 0x000f:
            result.add("motion", "1", 1, kind: .event)
            addLight(try body.unsigned(3), product, to: &result)
        case 0x1007: addLight(try body.unsigned(3), product, to: &result)
        // 0 somebody moves, otherwise nobody has for the time that was set; one byte, of some four.
        case 0x101b:
            result.add("idle", isOn: try body.unsigned(body.remainingCount == 4 ? 4 : 1) != 0)
        case 0x1001: try addButton(&body, to: &result)
        case 0x1005:
            result.add("powered", isOn: try body.unsigned(1) != 0)
            result.add("temperature", "Cel", try body.unsigned(1))
        case 0x100d:
            result.add("temperature", "Cel", try body.signed(2), -1)
            result.add("humidity", "%RH", try body.unsigned(2), -1)
        case 0x1019:
            // 0 open, 1 closed, 2 open for too long, 3 reset.
            let state = try body.unsigned(1)
            if state < 3 { result.add("opening", isOn: state != 1) }
        case 0x100f, 0x480c:
            let state = try body.unsigned(1)
            if state < 2 { result.add("opening", isOn: state == 0) }
        // Open for too long; torn off.
        case 0x4a1a, 0x4a0f: if try body.unsigned(1) == 1 { result.add("opening", isOn: true) }
        // How much of somebody; 2 is nobody too.
        case 0x484e: result.add("occupancy", isOn: ![0, 2].contains(try body.unsigned(1)))
        case 0x4804, 0x4a12:
            let state = try body.unsigned(1)
            if state == 1 || state == 2 { result.add("opening", isOn: state == 1) }
        case 0x4801, 0x4c01: try addReal("temperature", "Cel", &body, to: &result)
        case 0x4808, 0x4c08: try addReal("humidity", "%RH", &body, to: &result)
        case 0x4805: try addReal("illuminance", "lx", &body, to: &result)
        case 0x4a08:
            result.add("motion", "1", 1, kind: .event)
            try addReal("illuminance", "lx", &body, to: &result)
        case 0x4a13:
            if try body.unsigned(1) == 1 { result.add("button", "1", 1, kind: .event) }
        default: break
        }
    }

    /// Detectors that tell light from dark only have 100 or more for light.
    private static func addLight(
        _ level: Int64, _ product: UInt16, to result: inout SensorAdvertisement
    ) {
        // MJYD02YL, RTCGQ02LM, MCCGQ02HL.
        [0x07f6, 0x0a8d, 0x098b].contains(product)
            ? result.add("light", isOn: level >= 100) : result.add("illuminance", "lx", level)
    }

    /// Which button, and how it was pressed: 1 once, 2 twice, 4 long, as in BTHome.
    private static func addButton(
        _ body: inout FieldReader, to result: inout SensorAdvertisement
    ) throws(AdvertisementFault) {
        let number = try body.unsigned(2)
        let name = number == 0 ? "button" : "button.\(number + 1)"
        switch try body.unsigned(1) {
        case 0: result.add(name, "1", 1, kind: .event)
        case 1: result.add(name, "1", 2, kind: .event)
        case 2: result.add(name, "1", 4, kind: .event)
        default: break
        }
    }

    /// A binary fraction of 32 bits, to two places: more it does not have.
    private static func addReal(
        _ name: String, _ unit: String, _ body: inout FieldReader,
        to result: inout SensorAdvertisement
    ) throws(AdvertisementFault) {
        let bits = UInt32(truncatingIfNeeded: try body.unsigned(4))
        let value = Double(Float(bitPattern: bits)) * 100
        guard value.isFinite, abs(value) < 1e12 else { throw .malformed }
        result.add(name, unit, Int64(value.rounded()), -2)
    }

    private struct Number {
        var name: String
        var unit: String
        var byteCount: Int
        var exponent: Int8 = 0
        var isSigned = false

        static func temperature(_ exponent: Int8) -> Number {
            Number(
                name: "temperature", unit: "Cel", byteCount: 2, exponent: exponent, isSigned: true)
        }
    }

    private static let numbers: [UInt16: Number] = [
        0x000a: Number(
            name: "temperature", unit: "Cel", byteCount: 2, exponent: -2, isSigned: true),
        0x1004: Number(
            name: "temperature", unit: "Cel", byteCount: 2, exponent: -1, isSigned: true),
        0x1006: Number(name: "humidity", unit: "%RH", byteCount: 2, exponent: -1),
        0x1008: Number(name: "moisture", unit: "%", byteCount: 1),
        // In µS/cm.
        0x1009: Number(name: "conductivity", unit: "S/m", byteCount: 2, exponent: -4),
        0x100a: Number(name: "battery", unit: "%EL", byteCount: 1),
        // In hundredths of mg/m³.
        0x1010: Number(name: "formaldehyde", unit: "ug/m3", byteCount: 2, exponent: 1),
        0x1013: Number(name: "consumable", unit: "%", byteCount: 1),
        0x1017: Number(name: "motion.idle", unit: "s", byteCount: 4),
        0x4802: Number(name: "humidity", unit: "%RH", byteCount: 1),
        0x4803: Number(name: "battery", unit: "%EL", byteCount: 1),
        0x483d: Number(name: "pressed.duration", unit: "s", byteCount: 4),
        0x483e: Number(name: "released.duration", unit: "s", byteCount: 4),
        0x4818: Number(name: "motion.idle", unit: "s", byteCount: 2),
        0x4c02: Number(name: "humidity", unit: "%RH", byteCount: 1),
        0x4c03: Number(name: "battery", unit: "%EL", byteCount: 1),
        0x5003: Number(name: "battery", unit: "%EL", byteCount: 1),
    ]

    /// A byte, and what it is when the state is off.
    private static let states: [UInt16: (name: String, off: Int64)] = [
        0x1012: ("powered", 0), 0x1014: ("wet", 0), 0x1015: ("smoke", 0),
        0x1016: ("gas-detected", 0),
        0x1018: ("light", 0), 0x4806: ("wet", 0), 0x483c: ("occupancy", 0), 0x487b: ("splash", 0),
        0x4a01: ("battery-low", 0), 0x4e01: ("battery-low", 0),
    ]
}
