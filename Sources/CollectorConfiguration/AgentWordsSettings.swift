import Configuration
import NearbyCore
import Telemetry

/// `agents`: what a collector says of agents that nobody wants to touch.
extension AgentWords {
    static let table = KeyTable(
        "agents",
        [
            Key(
                "node", .text(1...95), .required,
                "Which agents: a name, a pattern such as 'north-*', or a PeerID. If several "
                    + "entries match, each setting comes from the first that has it."),
            Key("rename", .text(1...63), .described("the agent's"), "What it is called instead."),
            Key(
                "labels", .pairs(most: 16), .described("the agent's"),
                "Added to its own labels; those with the same name are replaced."),
            Key(
                "channels", .namedSections(most: 128), .described("as sent"),
                "Settings for single channels, by the agent's name for each, or by a pattern."),
        ])

    static func decode(_ section: Section, _ mistakes: MistakeList) -> [AgentWords] {
        section.sections("agents", table).map { AgentWords($0, mistakes) }
    }

    private init(_ section: Section, _ mistakes: MistakeList) {
        self.init(node: section.text("node") ?? "")
        rename = section.text("rename")
        if rename != nil, isPattern(node) {
            section.add(
                "rename",
                "rename would give one name to all nodes that \(PlainText.shown(node)) matches; "
                    + "write the name or the PeerID of one")
        }
        labels = Settings.labels(section, mistakes).map { Label(key: $0.key, value: $0.value) }
        channels = section.namedSections("channels", ChannelWords.table)
            .map { ChannelWords($0.key, $0.value) }
            .sorted { $0.channel < $1.channel }
        let names = channels.compactMap(\.rename)
        for name in Set(names).sorted() where names.count(where: { $0 == name }) > 1 {
            section.add("channels", "two channels are called \(PlainText.shown(name))")
        }
        let says = ["rename", "labels", "channels"].contains { section.node($0) != nil }
        if !says { section.add("node", "nothing is set for \(PlainText.shown(node))") }
    }
}

extension ChannelWords {
    static let table = KeyTable(
        "agents.channels",
        [
            Key("rename", .text(1...63), .described("the agent's"), "What it is called instead."),
            Key(
                "sent-in", .text(1...24), .described("the agent's"),
                "The unit in which its values are sent, if the agent gives none or a wrong one."),
            Key(
                "unit", .text(1...24), .described("as sent"),
                "The unit to convert its values to, such as hPa or [degF] (UCUM). If the agent "
                    + "gives none, the unit in which they are sent."),
            Key("scale", .decimal, .value("1"), "Its values are multiplied by this."),
            Key(
                "offset", .decimal, .value("0"),
                "Then this is added, in the unit in which they come."),
        ])

    fileprivate init(_ channel: String, _ section: Section) {
        self.init(channel: channel)
        rename = section.text("rename")
        if rename != nil, isPattern(channel) {
            section.add(
                "rename",
                "rename would give one name to all channels that \(PlainText.shown(channel)) "
                    + "matches; write the name of one")
        }
        sentIn = Self.unit(section, "sent-in")
        unit = Self.unit(section, "unit")
        scale = Self.decimal(section, "scale")
        offset = Self.decimal(section, "offset")
        if scale.coefficient == 0 { section.add("scale", "scale is 0; every value would be 0") }
        if let source = sentIn, let target = unit, source != target,
            UnitConversion(from: source.name, to: target.name) == nil
        {
            let targets = UnitConversion.targets(of: source.name)
            section.add(
                "unit",
                "values in \(PlainText.shown(source.name)) cannot be converted to "
                    + PlainText.shown(target.name)
                    + (targets.isEmpty
                        ? "; leave unit out" : "; write \(targets.joined(separator: ", "))"))
        }
    }

    private static func unit(_ section: Section, _ key: String) -> Unit? {
        if case .sequence = section.node(key)?.value {
            section.add(
                key, "\(key) stands in brackets without quotation marks; write \"[degF]\"")
            return nil
        }
        guard let text = section.text(key) else { return nil }
        if let unit = Unit(text) { return unit }
        section.add(key, "\(key) is '\(PlainText.shown(text))'; a unit has no spaces")
        return nil
    }

    private static func decimal(_ section: Section, _ key: String) -> DecimalValue {
        (try? DecimalValue(parsing: section.decimal(key))) ?? DecimalValue(coefficient: 0)
    }
}

/// Whether a shell would take it for more than a name.
private func isPattern(_ text: String) -> Bool {
    text.contains { "*?[".contains($0) }
}
