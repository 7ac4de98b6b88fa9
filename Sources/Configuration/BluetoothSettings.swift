/// Bluetooth LE, and BR/EDR where that is configured.
public struct BluetoothSettings: Sendable {
    public var isOn: Bool
    /// The file says more than `auto`: what is missing is worth a warning.
    public var isAsked: Bool
    /// `hci0`, or an address; nil: the first that can do LE.
    public var adapter: String?
    /// Addresses. At most 16.
    public var peers: [String]

    static let table = KeyTable(
        "links.bluetooth",
        [
            Key(
                "adapter", .text(4...17), .described("the first that can do LE"),
                "The controller, by name (hci0) or by address."),
            Key(
                "peers", .list(element: "an address such as \"AA:BB:CC:DD:EE:FF\"", most: 16),
                .described("none"),
                "Nodes to reach over BR/EDR where LE does not, PSM 0x5269; on both sides."),
        ])

    init(_ section: Section, isOn: Bool, isAsked: Bool) {
        self.isOn = isOn
        self.isAsked = isAsked
        adapter = section.text("adapter")
        peers = section.list("peers", where: BluetoothText.isAddress).map(\.text)
        if let adapter, !BluetoothText.isAdapter(adapter) {
            section.add(
                "adapter",
                "adapter is '\(PlainText.shown(adapter))'; it must be a name such as hci0 or an "
                    + "address such as \"AA:BB:CC:DD:EE:FF\"")
        }
    }
}

/// The forms of `hci0` and `AA:BB:CC:DD:EE:FF`, checked where their line and column are known.
enum BluetoothText {
    static func isAdapter(_ text: String) -> Bool {
        if isAddress(text) { return true }
        guard text.hasPrefix("hci"), let number = Quantity.integer(String(text.dropFirst(3))) else {
            return false
        }
        return (0..<0xffff).contains(number)
    }

    static func isAddress(_ text: String) -> Bool {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        return parts.count == 6
            && parts.allSatisfy { part in part.utf8.count == 2 && part.allSatisfy(\.isHexDigit) }
    }
}
