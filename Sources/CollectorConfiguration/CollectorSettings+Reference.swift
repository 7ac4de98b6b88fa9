import Configuration
import Telemetry

extension CollectorSettings {
    /// Every table of keys, in the order of the reference.
    public static let tables: [KeyTable] = {
        var tables = Settings.tables + [AgentWords.table, ChannelWords.table]
        tables += OutputSettings.tables
        tables.append(WebSettings.table)
        return tables + AlarmSettings.tables
    }()

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
