/// The order in which waiting frames leave, and which replay window they use.
public enum Priority: UInt8, CaseIterable, Comparable, Sendable {
    case control = 0
    /// Fresh readings: at a full queue the oldest goes first.
    case fresh = 1
    case reliable = 2
    /// Resends and resources.
    case bulk = 3

    public static func < (left: Priority, right: Priority) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// What a node is for. It is claimed in beacons and confirmed inside the channel.
public enum Role: UInt8, CaseIterable, Sendable {
    case agent = 0
    case relay = 1
    case collector = 2
    /// Looks in: gets copies, never gives receipts.
    case viewer = 3
}
