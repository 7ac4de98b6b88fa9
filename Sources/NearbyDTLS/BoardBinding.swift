import DurableFiles

/// What ties an identity to a board, so that a copied memory card is noticed.
public enum BoardBinding: Equatable, Sendable, CustomStringConvertible {
    /// The device tree's serial number: of the board itself.
    case serial(String)
    /// /etc/machine-id: of the installation, where there is no serial number.
    case machineID(String)
    case none

    /// Reads the board's own: from `root` + "/proc/device-tree/serial-number" or "/etc/machine-id".
    public init(root: String = "", through files: some FileOperations) {
        if let serial = Self.value(root + "/proc/device-tree/serial-number", files) {
            self = .serial(serial)
        } else if let machine = Self.value(root + "/etc/machine-id", files) {
            self = .machineID(machine)
        } else {
            self = .none
        }
    }

    /// Reads what `description` writes; nil if it is something else.
    init?(text: Substring) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        switch (words.first, words.count) {
        case ("none", 1): self = .none
        case ("serial", 2) where !words[1].isEmpty: self = .serial(String(words[1]))
        case ("machine-id", 2) where !words[1].isEmpty: self = .machineID(String(words[1]))
        default: return nil
        }
    }

    public var description: String {
        switch self {
        case .serial(let value): "serial \(value)"
        case .machineID(let value): "machine-id \(value)"
        case .none: "none"
        }
    }

    /// Whether an identity that was bound to this belongs to another board than `current`. Where
    /// either side has nothing to compare, nobody can tell, and the identity stays.
    func isForeign(on current: BoardBinding) -> Bool {
        self != .none && current != .none && self != current
    }

    /// The printable part of a small file; nil if missing, empty, or all zeros as on boards never
    /// programmed.
    private static func value(_ path: String, _ files: some FileOperations) -> String? {
        guard let bytes = try? AtomicFile.read(path, limit: 256, through: files) else { return nil }
        let printable = bytes.filter { (0x21...0x7e).contains($0) }.prefix(64)
        guard printable.contains(where: { $0 != UInt8(ascii: "0") }) else { return nil }
        return String(decoding: printable, as: UTF8.self)
    }
}
