import Telemetry

/// Units as people write them, and as SenML and UCUM do.
package enum UnitWords {
    /// What to write instead of a unit to which nothing can be converted.
    static func advice(for word: String) -> String {
        if let name = names.first(where: { $0.words.contains(word.lowercased()) })?.name {
            return "write "
                + (name.hasPrefix("[") ? "\"\(name)\", in quotation marks" : name)
        }
        if Unit.registered.contains(where: { $0.name == word }) {
            return "leave it out: who measures in it gives it so"
        }
        return Suggestion.text(for: word, among: UnitConversion.names)
    }

    /// Warns of a unit that is carried as it is written and is hardly meant so.
    static func check(_ key: String, _ word: String, _ section: Section) {
        if let warning = warning(on: word, key) { section.warn(key, warning) }
    }

    /// What to write for a word that stands for a known unit; nil where it is one, or none is near.
    package static func warning(on word: String, _ key: String) -> String? {
        if word == "C" || word == "F" {
            let (taken, meant, name) =
                word == "C" ? ("coulomb", "Celsius", "Cel") : ("farad", "Fahrenheit", "[degF]")
            return "\(key) is \(word), which is \(taken); for degrees \(meant) write \(name)"
        }
        guard !Unit.registered.contains(where: { $0.name == word }), !UnitConversion.knows(word),
            let name = (names + moreNames).first(where: {
                $0.words.contains(word.lowercased())
            })?.name,
            name != word
        else { return nil }
        return "\(key) is \(PlainText.shown(word)); write \(name), as others do"
    }

    private static let names: [(name: String, words: [String])] = [
        ("Cel", ["°c", "celsius", "degc"]),
        ("[degF]", ["f", "°f", "fahrenheit", "degf"]),
        ("[in_i'Hg]", ["inhg"]),
        ("mm[Hg]", ["mmhg"]),
        ("[psi]", ["psi"]),
        ("[in_i]", ["in", "inch", "inches"]),
        ("[ft_i]", ["ft", "feet"]),
        ("[mi_i]", ["mi", "mile", "miles"]),
        ("[mi_i]/h", ["mph"]),
        ("[kn_i]", ["kn", "kt", "kts", "knot", "knots"]),
        ("km/h", ["kmh", "kph"]),
        ("[gal_us]", ["gal", "gallon", "gallons"]),
        ("l", ["litre", "liter", "litres", "liters"]),
        ("m3", ["m³", "m^3"]),
        ("m3/h", ["m³/h", "m^3/h"]),
        ("ug/m3", ["µg/m³", "µg/m3", "ug/m³"]),
        ("min", ["minute", "minutes"]),
        ("h", ["hour", "hours"]),
    ]

    /// Those that a sensor's own unit may have beside these: there nothing is changed, so none is
    /// refused.
    private static let moreNames: [(name: String, words: [String])] = [
        ("Cel", ["centigrade"]),
        ("%", ["percent", "pct", "per cent"]),
        ("%RH", ["rh", "%rh", "%r.h."]),
        ("K", ["kelvin"]),
        ("V", ["volt", "volts"]),
        ("A", ["amp", "amps", "ampere", "amperes"]),
        ("W", ["watt", "watts"]),
        ("lx", ["lux"]),
        ("Hz", ["hertz", "hz"]),
        ("Pa", ["pascal", "pascals", "pa"]),
        ("hPa", ["hpa", "mbar", "millibar"]),
        ("kWh", ["kwh"]),
        ("s", ["sec", "second", "seconds"]),
        ("B", ["byte", "bytes"]),
        ("m", ["metre", "meter", "metres", "meters"]),
        ("mm", ["millimetre", "millimeter"]),
        ("Ohm", ["ohm", "ohms", "ω"]),
    ]
}
