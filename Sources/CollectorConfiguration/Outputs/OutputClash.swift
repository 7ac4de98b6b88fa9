import Configuration

extension OutputSettings.Kind {
    /// Why two outputs cannot both work; nil: they can.
    func clash(with other: Self) -> String? {
        switch (self, other) {
        case (.json(let own), .json(let other)): Self.clash(own.place, other.place)
        case (.mqtt(let own), .mqtt(let other)) where own.target == other.target:
            Self.clash(own, other)
        default: nil
        }
    }

    private static func clash(
        _ own: JSONOutputSettings.Place, _ other: JSONOutputSettings.Place
    ) -> String? {
        switch (own, other) {
        case (.standardOutput, .standardOutput):
            "two outputs write to standard output; remove one of them"
        case (.file(let path, _, _), .file(let other, _, _)) where path == other:
            "two outputs write the file \(PlainText.shown(path)); give each a file of its own"
        default: nil
        }
    }

    private static func clash(_ own: MQTTSettings, _ other: MQTTSettings) -> String? {
        if own.clientID != nil, own.clientID == other.clientID {
            return "two outputs have the same client-id at \(own.target), so each would "
                + "disconnect the other; give each a client-id of its own"
        }
        guard case .sparkplug(let group, let edge, _) = own.dialect,
            case .sparkplug(let otherGroup, let otherEdge, _) = other.dialect,
            (group, edge) == (otherGroup, otherEdge)
        else { return nil }
        return "two outputs have the same edge \(PlainText.shown(edge)) in group "
            + "\(PlainText.shown(group)) at \(own.target); give each an edge of its own"
    }

    /// What is hardly meant: both write the same topics.
    func overlap(with other: Self) -> String? {
        guard case .mqtt(let own) = self, case .mqtt(let other) = other,
            case .topics = own.dialect, case .topics = other.dialect,
            own.target == other.target, own.prefix == other.prefix
        else { return nil }
        return
            "two outputs publish the same topics at \(own.target), so each reading is sent twice; "
            + "give each a prefix of its own"
    }
}
