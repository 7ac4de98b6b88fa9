import NearbyCore

extension Limits {
    /// A unit's name, bytes of UTF-8.
    static let unitBytesMax = 24
}

/// A unit of measurement, named as in SenML (RFC 8428 §12.1, RFC 8798), else as in UCUM.
///
/// Any name of at most `Limits.unitBytesMax` bytes without control characters is carried; the empty
/// name means that the unit is not known.
public struct Unit: Hashable, Sendable, CustomStringConvertible {
    public let name: String

    public static let none = Unit(unchecked: "")
    public static let celsius = Unit(unchecked: "Cel")
    public static let relativeHumidity = Unit(unchecked: "%RH")
    public static let pascal = Unit(unchecked: "Pa")
    public static let second = Unit(unchecked: "s")
    public static let byte = Unit(unchecked: "B")
    public static let count = Unit(unchecked: "count")
    static let ratio = Unit(unchecked: "/")
    public static let percent = Unit(unchecked: "%")
    public static let volt = Unit(unchecked: "V")
    public static let ampere = Unit(unchecked: "A")
    public static let watt = Unit(unchecked: "W")
    public static let hertz = Unit(unchecked: "Hz")

    /// Nil if the name is too long or holds control characters or spaces.
    public init?(_ name: String) {
        guard name.utf8.count <= Limits.unitBytesMax else { return nil }
        for byte in name.utf8 where byte <= 0x20 || byte == 0x7f { return nil }
        self.name = name
    }

    private init(unchecked name: String) { self.name = name }

    public var description: String { name }

    /// Whether the name stands in one of the two SenML registries.
    public var isRegistered: Bool { Self.registered.contains { $0.name == name } }

    /// As people write it: `°C` for `Cel`.
    public var symbol: String { Self.symbols.first { $0.name == name }?.symbol ?? name }

    private static let symbols: [(name: String, symbol: String)] = [
        ("Cel", "°C"), ("Ohm", "Ω"), ("m2", "m²"), ("m3", "m³"), ("m/s2", "m/s²"), ("m3/s", "m³/s"),
        ("W/m2", "W/m²"), ("cd/m2", "cd/m²"), ("kg/m3", "kg/m³"), ("ug/m3", "µg/m³"), ("deg", "°"),
        ("lat", "°"), ("lon", "°"), ("[kn_i]", "kn"), ("[mi_i]/h", "mph"), ("[mi_i]", "mi"),
        ("[ft_i]", "ft"), ("[in_i]", "in"), ("[degF]", "°F"), ("mCel", "m°C"), ("[psi]", "psi"),
        ("mm[Hg]", "mmHg"), ("[in_i'Hg]", "inHg"), ("um", "µm"), ("us", "µs"), ("uA", "µA"),
        ("uV", "µV"), ("uW", "µW"), ("uJ", "µJ"), ("/", ""), ("count", ""),
    ]

    /// SenML's names and their meanings: RFC 8428 §12.1, then RFC 8798's additions and secondary
    /// units.
    public static let registered: [(name: String, meaning: String)] = [
        ("m", "metre"), ("kg", "kilogram"), ("g", "gram"), ("s", "second"), ("A", "ampere"),
        ("K", "kelvin"), ("cd", "candela"), ("mol", "mole"), ("Hz", "hertz"), ("rad", "radian"),
        ("sr", "steradian"), ("N", "newton"), ("Pa", "pascal"), ("J", "joule"), ("W", "watt"),
        ("C", "coulomb"), ("V", "volt"), ("F", "farad"), ("Ohm", "ohm"), ("S", "siemens"),
        ("Wb", "weber"), ("T", "tesla"), ("H", "henry"), ("Cel", "degrees Celsius"),
        ("lm", "lumen"),
        ("lx", "lux"), ("Bq", "becquerel"), ("Gy", "gray"), ("Sv", "sievert"), ("kat", "katal"),
        ("m2", "square metre"), ("m3", "cubic metre"), ("l", "litre"), ("m/s", "metre per second"),
        ("m/s2", "metre per square second"), ("m3/s", "cubic metre per second"),
        ("l/s", "litre per second"), ("W/m2", "watt per square metre"),
        ("cd/m2", "candela per square metre"), ("bit", "bit"), ("bit/s", "bit per second"),
        ("lat", "degrees latitude"), ("lon", "degrees longitude"), ("pH", "pH value"),
        ("dB", "decibel"), ("dBW", "decibel relative to 1 W"),
        ("Bspl", "bel, sound pressure level"), ("count", "counter value"), ("/", "ratio"),
        ("%", "per cent"), ("%RH", "relative humidity"), ("%EL", "remaining battery, per cent"),
        ("EL", "remaining battery, seconds"), ("1/s", "event rate per second"),
        ("1/min", "event rate per minute"), ("beat/min", "heart rate"), ("beats", "heart beats"),
        ("S/m", "siemens per metre"),
        ("B", "byte"), ("VA", "volt-ampere"), ("VAs", "volt-ampere second"),
        ("var", "reactive power"),
        ("vars", "reactive energy"), ("J/m", "joule per metre"),
        ("kg/m3", "kilogram per cubic metre"),
        ("deg", "degree (angle)"),
        ("ms", "millisecond"), ("min", "minute"), ("h", "hour"), ("MHz", "megahertz"),
        ("kW", "kilowatt"), ("kVA", "kilovolt-ampere"), ("kvar", "kilovar"), ("Ah", "ampere-hour"),
        ("Wh", "watt-hour"), ("kWh", "kilowatt-hour"), ("varh", "var-hour"),
        ("kvarh", "kilovar-hour"),
        ("kVAh", "kilovolt-ampere-hour"), ("Wh/km", "watt-hour per kilometre"), ("KiB", "kibibyte"),
        ("GB", "gigabyte"), ("Mbit/s", "megabit per second"), ("B/s", "byte per second"),
        ("MB/s", "megabyte per second"), ("mV", "millivolt"), ("mA", "milliampere"),
        ("dBm", "decibel relative to 1 mW"), ("ug/m3", "microgram per cubic metre"),
        ("mm/h", "millimetre per hour"), ("m/h", "metre per hour"), ("ppm", "parts per million"),
        ("/100", "per cent"), ("/1000", "per mille"), ("hPa", "hectopascal"), ("mm", "millimetre"),
        ("cm", "centimetre"), ("km", "kilometre"), ("km/h", "kilometre per hour"),
    ]
}
