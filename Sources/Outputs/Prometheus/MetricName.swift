import Telemetry

/// What a channel is called in Prometheus and OpenMetrics: `rivulet_`, the channel's name, and its
/// base unit.
///
/// Names of channels are foreign text; whatever they are, this is a legal name that `promtool check
/// metrics` has nothing against. Several channels may get one name: the label `channel` has the
/// name as it is. All are gauges.
///
///     temperature, °C → rivulet_temperature_celsius
///     disk./.used, %  → rivulet_disk_used_ratio, values divided by 100
public struct MetricName: Equatable, Sendable {
    public let text: String
    public let unit: MetricUnit

    /// What the collector says of itself and of the mesh begins with `rivulet_collector_` or
    /// `rivulet_mesh_`: no channel's name does.
    static let reservedWords = ["collector", "mesh", "channel"]

    public init(channel: String, unit: Unit) {
        self.unit = MetricUnit(unit)
        var words = Self.words(channel)
        let suffix = self.unit.suffix.split(separator: "_").map(String.init)
        if !suffix.isEmpty, words.suffix(suffix.count) == suffix[...] {
            words.removeLast(suffix.count)
        }
        if words.isEmpty || words.first.map(Self.reservedWords.contains) == true {
            words.insert("channel", at: 0)
        }
        text = (["rivulet"] + words + suffix).joined(separator: "_")
    }

    /// What is left of a foreign text: words of a–z and 0–9 that no checker of names takes for
    /// something else.
    static func words(_ foreign: String) -> [String] {
        var words: [String] = []
        for part in parts(foreign) {
            if let plural = reserved[part] {
                words.append(plural)
            } else if let last = words.last, looksLikeUnit(part) {
                words[words.count - 1] = last + part
            } else {
                words.append(looksLikeUnit(part) ? "channel" + part : part)
            }
        }
        return words
    }

    private static func parts(_ foreign: String) -> [String] {
        var parts: [String] = []
        var part = ""
        for byte in foreign.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                part.unicodeScalars.append(Unicode.Scalar(byte))
            case UInt8(ascii: "A")...UInt8(ascii: "Z"):
                part.unicodeScalars.append(Unicode.Scalar(byte | 0x20))
            default:
                if !part.isEmpty { parts.append(part) }
                part = ""
            }
        }
        return part.isEmpty ? parts : parts + [part]
    }

    /// Ends that OpenMetrics keeps for itself, and types of metrics: their plurals are free.
    private static let reserved = [
        "total": "totals", "count": "counts", "sum": "sums", "bucket": "buckets",
        "created": "creation", "info": "details", "gauge": "gauges", "counter": "counters",
        "summary": "summaries", "histogram": "histograms", "gaugehistogram": "gaugehistograms",
    ]

    /// Whether the linter would ask for another unit, or for its full name. Such a word is joined
    /// to the one before: `probe.b` gives `probeb`.
    private static func looksLikeUnit(_ word: String) -> Bool {
        if abbreviations.contains(word) || otherUnits.contains(word) { return true }
        return prefixes.contains { prefix in
            word.hasPrefix(prefix)
                && (baseUnits + otherUnits).contains(String(word.dropFirst(prefix.count)))
        }
    }

    private static let abbreviations = [
        "s", "ms", "us", "ns", "sec", "b", "kb", "mb", "gb", "tb", "pb", "m", "h", "d",
    ]
    private static let baseUnits = [
        "amperes", "bytes", "celsius", "grams", "joules", "kelvin", "meters", "metres", "seconds",
        "volts",
    ]
    private static let otherUnits = [
        "minutes", "hours", "days", "weeks", "kelvins", "fahrenheit", "rankine", "inches", "yards",
        "miles", "bits", "calories", "pounds", "ounces",
    ]
    private static let prefixes = [
        "pico", "nano", "micro", "milli", "centi", "deci", "deca", "hecto", "kilo", "kibi", "mega",
        "mibi", "giga", "gibi", "tera", "tebi", "peta", "pebi",
    ]
}
