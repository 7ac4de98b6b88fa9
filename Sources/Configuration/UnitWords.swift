import Telemetry

/// Units as people write them, and as SenML and UCUM do.
enum UnitWords {
    /// What to write instead of a unit into which nothing can be changed.
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
}
