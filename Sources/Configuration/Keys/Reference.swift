extension Settings {
    /// Every table of keys, in the order of the reference.
    public static let tables: [KeyTable] =
        [file, TrustSettings.table, links, UDPSettings.table, BluetoothSettings.table]
        + SensorSettings.kinds.map(\.table)
        + [SamplingSettings.channelTable, StatusLEDSettings.table]
        + [report, journal, collector]

    /// The reference of all keys in Markdown, from the tables that decode them.
    public static var reference: String {
        var text = """
            # Configuration

            One YAML file for every role. `rivulet check FILE` names every mistake.
            Durations are whole numbers with ms, s, min, h or d; sizes are bytes, or have KiB, MiB
            or GiB.

            """
        for table in tables { text += table.reference }
        return text
    }
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
