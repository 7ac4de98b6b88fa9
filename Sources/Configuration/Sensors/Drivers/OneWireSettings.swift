/// Thermometers on a 1-Wire bus: the `w1` driver.
public struct OneWireSettings: Sendable {
    /// As the kernel writes them, lower case; none: all.
    public var ids: [String]
    public var staleAfter: Duration
}

extension SensorSettings.Kind {
    static let w1 = Self(
        name: "w1",
        keys: [
            Key(
                "ids",
                .list(
                    element: "an id such as 28-0001a0115e01, of family 10, 22, 28, 3b or 42",
                    most: 64),
                .described("all there are"),
                "Which thermometers: the names in /sys/bus/w1/devices."),
            .staleAfter,
        ]
    ) { section in
        let ids = section.list("ids", where: OneWireSettings.isID).map(\.text)
        if let node = section.node("ids"), case .sequence(let items) = node.value, items.isEmpty {
            section.add("ids", "ids is empty; leave it out to read all thermometers")
        }
        return .w1(OneWireSettings(ids: ids, staleAfter: section.duration("stale-after")))
    }
}

extension OneWireSettings {
    /// Two digits of base 16, a hyphen, twelve more; the families that are thermometers.
    fileprivate static func isID(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, ["10", "22", "28", "3b", "42"].contains(parts[0]),
            parts[1].utf8.count == 12
        else { return false }
        return parts[1].allSatisfy { "0123456789abcdef".contains($0) }
    }
}
