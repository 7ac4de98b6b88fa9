extension Settings {
    /// The reference of all keys in Markdown, from the tables that decode them.
    public static var reference: String {
        var text =
            "# Configuration\n\nOne YAML file for every role. `rivulet check FILE` names all mistakes.\n"
        func add(_ title: String, _ keys: [Key]) {
            text += "\n## \(title)\n\n| key | value | default | meaning |\n|---|---|---|---|\n"
            for key in keys {
                text += "| `\(key.name)` | \(key.kind) | \(key.standard) | \(key.meaning) |\n"
            }
        }
        add("The file", keys)
        add("links", linkKeys)
        add("links.udp", UDPSettings.keys)
        for (name, keys) in SensorSettings.keysByDriver { add("sensors, driver \(name)", keys) }
        add("report", reportKeys)
        add("collector", collectorKeys)
        return text
    }
}
