import Telemetry

extension Settings {
    /// The tables of keys that every node has, in the order of the reference.
    public static let tables: [KeyTable] = {
        var tables = [file, TrustSettings.table, links, UDPSettings.table, BluetoothSettings.table]
        tables += SensorSettings.kinds.map(\.table)
        tables += [SamplingSettings.channelTable, StatusLEDSettings.table]
        return tables + [report, journal, collector]
    }()
}

extension KeyTable {
    /// Its keys in Markdown.
    package var reference: String {
        var text = "\n## \(name)\n\n| key | value | default | meaning |\n|---|---|---|---|\n"
        for key in keys {
            text +=
                "| `\(key.name)` | \(key.form.documented) | \(key.standard.documented) | "
                + "\(key.meaning) |\n"
        }
        guard !later.isEmpty else { return text }
        let names = later.map { "`\($0)`" }.joined(separator: ", ")
        return text + "\nNot in this version: \(names).\n"
    }
}

extension Key.Standard {
    fileprivate var documented: String {
        switch self {
        case .value(let text): "`\(text)`"
        case .described(let words): words
        case .required: "must be given"
        }
    }
}
