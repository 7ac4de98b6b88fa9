import Telemetry

/// A unit as Prometheus and OpenMetrics want it: a base unit, in words, as the end of a metric's
/// name.
public struct MetricUnit: Equatable, Sendable {
    /// `celsius`; empty where there is none.
    public let suffix: String
    private let conversion: Conversion

    private enum Conversion: Equatable, Sendable {
        case none
        case unit(UnitConversion)
        case hundredth
    }

    public init(_ unit: Unit) {
        if let suffix = Self.suffixes[unit.name] {
            self.suffix = suffix
            conversion = .none
        } else if Self.percentages.contains(unit.name) {
            suffix = "ratio"
            conversion = .hundredth
        } else if let base = Self.base(of: unit.name) {
            suffix = base.suffix
            conversion = .unit(base.conversion)
        } else {
            suffix = MetricName.words(unit.name).joined(separator: "_")
            conversion = .none
        }
    }

    /// The same amount in the base unit. Nil if decimals cannot say it.
    public func convert(_ value: DecimalValue) -> DecimalValue? {
        switch conversion {
        case .none: value
        case .unit(let conversion): conversion(value)
        case .hundredth: value.multiplied(by: DecimalValue(coefficient: 1, exponent: -2))
        }
    }

    /// The first in `suffixes` that the unit can be turned into.
    private static func base(
        of unit: String
    ) -> (suffix: String, conversion: UnitConversion)? {
        guard UnitConversion.knows(unit) else { return nil }
        for base in bases {
            guard let conversion = UnitConversion(from: unit, to: base) else { continue }
            return (suffixes[base] ?? "", conversion)
        }
        return nil
    }

    /// SenML's units that are no shares for `UnitConversion`.
    private static let percentages = ["%RH", "%EL"]

    /// What others of the same quantity are turned into. Of temperatures, Celsius comes before
    /// kelvin.
    private static let bases = [
        "Cel", "Pa", "m", "m/s", "g", "s", "A", "V", "W", "VA", "var", "J", "VAs", "vars", "C",
        "Hz", "1/s", "m3", "m3/s", "m/h", "/", "B", "B/s", "g/m3", "dBm",
    ]

    /// Units that stay as they are. Prometheus' own words where it has them: grams, no kilograms;
    /// celsius, no degrees. Parts per million stay too: as a ratio nobody would know carbon
    /// dioxide again.
    private static let suffixes: [String: String] = [
        "": "", "count": "", "Cel": "celsius", "K": "kelvin", "Pa": "pascals", "m": "meters",
        "m/s": "meters_per_second", "m/s2": "meters_per_square_second", "g": "grams",
        "s": "seconds", "A": "amperes", "V": "volts", "W": "watts", "VA": "volt_amperes",
        "var": "volt_amperes_reactive", "J": "joules", "VAs": "volt_ampere_seconds",
        "vars": "volt_ampere_reactive_seconds", "C": "coulombs", "Hz": "hertz",
        "1/s": "per_second", "m2": "square_meters", "m3": "cubic_meters",
        "m3/s": "cubic_meters_per_second", "m/h": "meters_per_hour", "/": "ratio",
        "ppm": "parts_per_million", "ppb": "parts_per_billion", "B": "bytes",
        "B/s": "bytes_per_second", "g/m3": "grams_per_cubic_meter", "dBm": "decibel_milliwatts",
        "dBW": "decibel_watts", "dB": "decibels", "Bspl": "bels", "cd": "candelas",
        "mol": "moles", "rad": "radians", "sr": "steradians", "N": "newtons", "F": "farads",
        "Ohm": "ohms", "S": "siemens", "Wb": "webers", "T": "teslas", "H": "henries",
        "lm": "lumens", "lx": "lux", "Bq": "becquerels", "Gy": "grays", "Sv": "sieverts",
        "kat": "katals", "W/m2": "watts_per_square_meter", "cd/m2": "candelas_per_square_meter",
        "lat": "degrees", "lon": "degrees", "deg": "degrees", "pH": "ph", "EL": "seconds",
        "beat/min": "beats_per_minute", "beats": "beats", "S/m": "siemens_per_meter",
        "J/m": "joules_per_meter", "Wh/km": "watt_hours_per_kilometer",
    ]
}
