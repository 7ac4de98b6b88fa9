import Telemetry

/// What a channel is to Home Assistant: its words for the unit, the kind of quantity, and what its
/// statistics make of it. Those of 2024.3 (`sensor/const.py`), older words where there are two.
struct HomeAssistantClass: Hashable, Sendable {
    /// Nil: without a unit, or one that it has no word for stays as people write it.
    var unit: String?
    var device: String?
    /// "measurement", "total", "total_increasing".
    var state: String

    private init(_ unit: String?, _ device: String?, _ state: String = "measurement") {
        self.unit = unit
        self.device = device
        self.state = state
    }

    /// - Parameter name: the channel's: tells rain from a distance, a battery from a humidity.
    init(_ unit: Unit, channel name: String) {
        let words = Self.words(of: name)
        if let special = Self.byName.first(where: {
            $0.units.contains(unit.name) && !words.isDisjoint(with: $0.words)
        }) {
            self = special.is
        } else if let known = Self.byUnit[unit.name] {
            self = known
        } else {
            let symbol = unit.symbol
            self.init(symbol.isEmpty ? nil : symbol, nil)
        }
    }

    /// A battery's charge, and how well a radio hears: about the node rather than its place.
    var isDiagnostic: Bool { device == "battery" || device == "signal_strength" }

    /// Every class that there is, for the test against Home Assistant's own tables.
    static var all: [HomeAssistantClass] {
        byName.map(\.is) + byUnit.sorted { $0.key < $1.key }.map(\.value)
    }

    /// The words of a name in lower case: `Rain_mm today` has rain, mm and today.
    private static func words(of name: String) -> Set<String> {
        let parts = name.lowercased().split { !$0.isLetter && !$0.isNumber && $0 != "." }
        return Set(parts.map(String.init))
    }

    private static let byName: [(words: Set<String>, units: Set<String>, is: Self)] = [
        (["rain", "precipitation", "snow"], ["mm"], .init("mm", "precipitation")),
        (["rain", "precipitation", "snow"], ["cm"], .init("cm", "precipitation")),
        (["wind", "gust"], ["m/s"], .init("m/s", "wind_speed")),
        (["wind", "gust"], ["km/h"], .init("km/h", "wind_speed")),
        (["soil", "moisture"], ["%", "%RH", "/100"], .init("%", "moisture")),
        (["battery", "batt", "accu"], ["%", "/100"], .init("%", "battery")),
        (["humidity", "hum", "rh"], ["%", "/100"], .init("%", "humidity")),
        (["co2", "carbon"], ["ppm"], .init("ppm", "carbon_dioxide")),
        (["co"], ["ppm"], .init("ppm", "carbon_monoxide")),
        (["voc", "tvoc"], ["ppm"], .init("ppm", "volatile_organic_compounds_parts")),
        (["voc", "tvoc"], ["ppb"], .init("ppb", "volatile_organic_compounds_parts")),
        (["voc", "tvoc"], ["ug/m3"], .init("µg/m³", "volatile_organic_compounds")),
        (["pm1", "pm1.0"], ["ug/m3"], .init("µg/m³", "pm1")),
        (["pm2.5", "pm25"], ["ug/m3"], .init("µg/m³", "pm25")),
        (["pm10"], ["ug/m3"], .init("µg/m³", "pm10")),
        (["no2"], ["ug/m3"], .init("µg/m³", "nitrogen_dioxide")),
        (["ozone", "o3"], ["ug/m3"], .init("µg/m³", "ozone")),
        (["so2"], ["ug/m3"], .init("µg/m³", "sulphur_dioxide")),
        (["water"], ["l"], .init("L", "water", "total_increasing")),
        (["water"], ["m3"], .init("m³", "water", "total_increasing")),
        (["gas"], ["m3"], .init("m³", "gas", "total_increasing")),
        (["uptime", "age"], ["s"], .init("s", "duration")),
    ]

    private static let byUnit: [String: Self] = [
        "Cel": .init("°C", "temperature"), "[degF]": .init("°F", "temperature"),
        "K": .init("K", "temperature"), "%RH": .init("%", "humidity"),
        "%EL": .init("%", "battery"), "%": .init("%", nil), "/100": .init("%", nil),
        "Pa": .init("Pa", "pressure"), "hPa": .init("hPa", "pressure"),
        "kPa": .init("kPa", "pressure"), "mbar": .init("mbar", "pressure"),
        "bar": .init("bar", "pressure"), "mm[Hg]": .init("mmHg", "pressure"),
        "[in_i'Hg]": .init("inHg", "pressure"), "[psi]": .init("psi", "pressure"),
        "lx": .init("lx", "illuminance"), "W/m2": .init("W/m²", "irradiance"),
        "V": .init("V", "voltage"), "mV": .init("mV", "voltage"),
        "A": .init("A", "current"), "mA": .init("mA", "current"),
        "W": .init("W", "power"), "kW": .init("kW", "power"),
        "VA": .init("VA", "apparent_power"), "var": .init("var", "reactive_power"),
        "Wh": .init("Wh", "energy", "total_increasing"),
        "kWh": .init("kWh", "energy", "total_increasing"),
        "MJ": .init("MJ", "energy", "total_increasing"),
        "Hz": .init("Hz", "frequency"), "kHz": .init("kHz", "frequency"),
        "MHz": .init("MHz", "frequency"), "GHz": .init("GHz", "frequency"),
        "mm": .init("mm", "distance"), "cm": .init("cm", "distance"),
        "m": .init("m", "distance"), "km": .init("km", "distance"),
        "m/s": .init("m/s", "speed"), "km/h": .init("km/h", "speed"),
        "[mi_i]/h": .init("mph", "speed"), "[kn_i]": .init("kn", "speed"),
        "mm/h": .init("mm/h", "precipitation_intensity"),
        "dBm": .init("dBm", "signal_strength"), "dB": .init("dB", nil),
        "ppm": .init("ppm", nil), "ppb": .init("ppb", nil),
        "ug/m3": .init("µg/m³", nil), "mg/m3": .init("mg/m³", nil),
        "kg": .init("kg", "weight"), "g": .init("g", "weight"), "mg": .init("mg", "weight"),
        "s": .init("s", "duration"), "min": .init("min", "duration"),
        "h": .init("h", "duration"), "d": .init("d", "duration"), "ms": .init("ms", "duration"),
        "bit": .init("bit", "data_size"), "B": .init("B", "data_size"),
        "kB": .init("kB", "data_size"), "MB": .init("MB", "data_size"),
        "GB": .init("GB", "data_size"), "KiB": .init("KiB", "data_size"),
        "MiB": .init("MiB", "data_size"), "GiB": .init("GiB", "data_size"),
        "B/s": .init("B/s", "data_rate"), "bit/s": .init("bit/s", "data_rate"),
        "Mbit/s": .init("Mbit/s", "data_rate"), "MB/s": .init("MB/s", "data_rate"),
        "l": .init("L", "volume_storage"), "ml": .init("mL", "volume_storage"),
        "m3": .init("m³", "volume_storage"), "m3/h": .init("m³/h", "volume_flow_rate"),
        "l/min": .init("L/min", "volume_flow_rate"), "pH": .init(nil, "ph"),
        "deg": .init("°", nil), "lat": .init("°", nil), "lon": .init("°", nil),
        "1/min": .init("1/min", nil), "count": .init(nil, nil, "total_increasing"),
    ]
}
