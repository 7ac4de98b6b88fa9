/// What a destination is to those who have readings.
public enum DestinationKind: CaseIterable, Hashable, Sendable {
    /// Nobody addresses readings to it.
    case node
    case collector
    /// Gets copies. A way to it is no way to a collector.
    case viewer

    /// Who says that it is both gives receipts, so it is a collector.
    init(flags: UInt8) {
        self =
            flags & Self.collectorFlag != 0
            ? .collector : flags & Self.viewerFlag != 0 ? .viewer : .node
    }

    var flags: UInt8 {
        switch self {
        case .node: 0
        case .collector: Self.collectorFlag
        case .viewer: Self.viewerFlag
        }
    }

    private static let collectorFlag: UInt8 = 1 << 0
    private static let viewerFlag: UInt8 = 1 << 1
}
