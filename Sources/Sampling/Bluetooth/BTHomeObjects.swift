/// The objects of BTHome version 2 (bthome.io/format of April 2026, tables "Sensor data", "Binary
/// sensor data", "Events", "Device information" and "Misc data"): all of them.
struct BTHomeObject: Sendable {
    enum Form: Equatable, Sendable {
        case unsigned(Int)
        case signed(Int)
        /// A length of one byte, then so much text or data; no reading.
        case counted
        /// So many bytes that are no reading: what the device is.
        case skipped(Int)
        /// Which packet this is.
        case packet
        case state
        case button
        case dimmer
        /// A length of one byte, of whose five low bits are so many arguments; an opcode; these.
        case command
    }

    let form: Form
    let name: String
    let unit: String
    /// What the device's integer is multiplied by: this, times ten to the power of `exponent`.
    let factor: Int64
    let exponent: Int8

    private init(
        _ form: Form, _ name: String = "", _ unit: String = "1", _ exponent: Int8 = 0,
        factor: Int64 = 1
    ) {
        self.form = form
        self.name = name
        self.unit = unit
        self.factor = factor
        self.exponent = exponent
    }

    static let all: [UInt8: BTHomeObject] = numbers.merging(others) { first, _ in first }
        .merging(states) { first, _ in first }

    private static let numbers: [UInt8: BTHomeObject] = [
        0x01: .init(.unsigned(1), "battery", "%EL"),
        0x02: .init(.signed(2), "temperature", "Cel", -2),
        0x03: .init(.unsigned(2), "humidity", "%RH", -2),
        // In hundredths of hPa, which are Pa.
        0x04: .init(.unsigned(3), "pressure", "Pa"),
        0x05: .init(.unsigned(3), "illuminance", "lx", -2),
        0x06: .init(.unsigned(2), "mass", "kg", -2),
        // A pound is 0.45359237 kg.
        0x07: .init(.unsigned(2), "mass", "kg", -10, factor: 45_359_237),
        0x08: .init(.signed(2), "dew-point", "Cel", -2),
        0x09: .init(.unsigned(1), "count", "count"),
        0x0a: .init(.unsigned(3), "energy", "kWh", -3),
        0x0b: .init(.unsigned(3), "power", "W", -2),
        0x0c: .init(.unsigned(2), "voltage", "V", -3),
        0x0d: .init(.unsigned(2), "pm2.5", "ug/m3"),
        0x0e: .init(.unsigned(2), "pm10", "ug/m3"),
        0x12: .init(.unsigned(2), "co2", "ppm"),
        0x13: .init(.unsigned(2), "tvoc", "ug/m3"),
        0x14: .init(.unsigned(2), "moisture", "%", -2),
        0x2e: .init(.unsigned(1), "humidity", "%RH"),
        0x2f: .init(.unsigned(1), "moisture", "%"),
        0x3d: .init(.unsigned(2), "count", "count"),
        0x3e: .init(.unsigned(4), "count", "count"),
        0x3f: .init(.signed(2), "rotation", "deg", -1),
        0x40: .init(.unsigned(2), "distance", "mm"),
        0x41: .init(.unsigned(2), "distance", "m", -1),
        0x42: .init(.unsigned(3), "duration", "s", -3),
        0x43: .init(.unsigned(2), "current", "A", -3),
        0x44: .init(.unsigned(2), "speed", "m/s", -2),
        0x45: .init(.signed(2), "temperature", "Cel", -1),
        0x46: .init(.unsigned(1), "uv-index", "1", -1),
        0x47: .init(.unsigned(2), "volume", "l", -1),
        0x48: .init(.unsigned(2), "volume", "l", -3),
        0x49: .init(.unsigned(2), "flow", "m3/h", -3),
        0x4a: .init(.unsigned(2), "voltage", "V", -1),
        0x4b: .init(.unsigned(3), "gas", "m3", -3),
        0x4c: .init(.unsigned(4), "gas", "m3", -3),
        0x4d: .init(.unsigned(4), "energy", "kWh", -3),
        0x4e: .init(.unsigned(4), "volume", "l", -3),
        0x4f: .init(.unsigned(4), "water", "l", -3),
        0x50: .init(.unsigned(4), "timestamp", "s"),
        0x51: .init(.unsigned(2), "acceleration", "m/s2", -3),
        0x52: .init(.unsigned(2), "gyroscope", "deg/s", -3),
        0x55: .init(.unsigned(4), "stored-volume", "l", -3),
        // In µS/cm.
        0x56: .init(.unsigned(2), "conductivity", "S/m", -4),
        0x57: .init(.signed(1), "temperature", "Cel"),
        0x58: .init(.signed(1), "temperature", "Cel", -2, factor: 35),
        0x59: .init(.signed(1), "count", "count"),
        0x5a: .init(.signed(2), "count", "count"),
        0x5b: .init(.signed(4), "count", "count"),
        0x5c: .init(.signed(4), "power", "W", -2),
        0x5d: .init(.signed(2), "current", "A", -3),
        0x5e: .init(.unsigned(2), "direction", "deg", -2),
        0x5f: .init(.unsigned(2), "precipitation", "mm", -1),
        0x60: .init(.unsigned(1), "channel"),
        0x61: .init(.unsigned(2), "rotational-speed", "1/min"),
        0x62: .init(.signed(4), "speed", "m/s", -6),
        0x63: .init(.signed(4), "acceleration", "m/s2", -6),
        // 0 dark, 1 twilight, 2 bright.
        0x64: .init(.unsigned(1), "light-level"),
        0x65: .init(.unsigned(1), "settings-revision"),
    ]

    private static let others: [UInt8: BTHomeObject] = [
        0x00: .init(.packet),
        0x3a: .init(.button, "button"),
        // 0 off, 1 on, 2 toggle, 3 step up, 4 step down.
        0x3b: .init(.command, "command"),
        0x3c: .init(.dimmer, "dimmer"),
        0x53: .init(.counted),
        0x54: .init(.counted),
        0xf0: .init(.skipped(2)),
        0xf1: .init(.skipped(4)),
        0xf2: .init(.skipped(3)),
    ]

    private static let states: [UInt8: BTHomeObject] = [
        0x0f: "generic", 0x10: "powered", 0x11: "opening", 0x15: "battery-low",
        0x16: "battery-charging", 0x17: "carbon-monoxide", 0x18: "cold", 0x19: "connected",
        0x1a: "door", 0x1b: "garage-door", 0x1c: "gas-detected", 0x1d: "heat", 0x1e: "light",
        0x1f: "unlocked", 0x20: "wet", 0x21: "motion", 0x22: "moving", 0x23: "occupancy",
        0x24: "plug", 0x25: "presence", 0x26: "problem", 0x27: "running", 0x28: "safe",
        0x29: "smoke", 0x2a: "sound", 0x2b: "tamper", 0x2c: "vibration", 0x2d: "window",
    ].mapValues { BTHomeObject(.state, $0) }
}
