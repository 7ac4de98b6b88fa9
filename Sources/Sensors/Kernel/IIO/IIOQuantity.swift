/// What an IIO type measures: the unit of its scaled value in the kernel's documentation, and how
/// that becomes one of SenML's (RFC 8428 §12.1, RFC 8798).
struct IIOQuantity: Sendable {
    /// In channel names.
    var word: String
    var unit: String
    /// The kernel's value times 10 to this is in `unit`: −3 out of milli degrees.
    var exponent: Int
    /// The last decimal place worth keeping, in `unit`, where a raw channel's step is not finer.
    var lastPlace: Int
    /// A raw value without a scale and an offset is in the kernel's unit as it is.
    var isScaledAlready: Bool

    private init(
        _ word: String, _ unit: String, _ exponent: Int = 0, lastPlace: Int = -6,
        isScaledAlready: Bool = false
    ) {
        self.word = word
        self.unit = unit
        self.exponent = exponent
        self.lastPlace = lastPlace
        self.isScaledAlready = isScaledAlready
    }

    /// Nil for a type that is not known; it is given without a unit.
    static func named(_ type: String) -> IIOQuantity? { table[type] }

    /// Documentation/ABI/testing/sysfs-bus-iio (6.10, `in_altvoltage` 6.18): "units after
    /// application of scale and offset".
    private static let table: [String: IIOQuantity] = [
        "voltage": .init("voltage", "V", -3),
        "altvoltage": .init("altvoltage", "V", -3),
        "current": .init("current", "A", -3, isScaledAlready: true),
        "altcurrent": .init("altcurrent", "A", -3),
        "power": .init("power", "W", -3),
        "energy": .init("energy", "J", lastPlace: -3),
        "capacitance": .init("capacitance", "F", -9, lastPlace: -15),
        "resistance": .init("resistance", "Ohm", lastPlace: -3),
        "temp": .init("temperature", "Cel", -3, lastPlace: -3),
        "humidityrelative": .init("humidity", "%RH", -3, lastPlace: -3),
        "pressure": .init("pressure", "Pa", 3, lastPlace: -2),
        "accel": .init("acceleration", "m/s2"),
        "gravity": .init("gravity", "m/s2"),
        "anglvel": .init("angular-velocity", "rad/s"),
        "angl": .init("angle", "rad"),
        "deltaangl": .init("delta-angle", "rad"),
        "deltavelocity": .init("delta-velocity", "m/s"),
        "velocity": .init("velocity", "m/s"),
        "incli": .init("inclination", "deg"),
        "rot": .init("rotation", "deg"),
        "magn": .init("magnetic-field", "T", -4, lastPlace: -10),
        "illuminance": .init("illuminance", "lx", lastPlace: -3),
        "intensity": .init("intensity", "1"),
        "uvindex": .init("uv-index", "1", lastPlace: -3),
        "colortemp": .init("color-temperature", "K", lastPlace: -1),
        "chromaticity": .init("chromaticity", "1"),
        "proximity": .init("proximity", "m", lastPlace: -6),
        "distance": .init("distance", "m", lastPlace: -6),
        "positionrelative": .init("position", "%", -3, lastPlace: -3),
        // Per cent in the kernel; people speak of carbon dioxide in parts per million.
        "concentration": .init("concentration", "ppm", 4, lastPlace: -3),
        "massconcentration": .init("particles", "ug/m3", lastPlace: -3),
        "electricalconductivity": .init("conductivity", "S/m"),
        "ph": .init("ph", "pH", lastPlace: -3),
        "phase": .init("phase", "rad"),
        "count": .init("count", "count"),
        "index": .init("index", "count"),
        "steps": .init("steps", "count"),
        "activity": .init("activity", "%", lastPlace: -3),
        "attention": .init("attention", "%", lastPlace: -3),
    ]
}
