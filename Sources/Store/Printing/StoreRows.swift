import Collector
import NearbyCore

/// What kinds of rows a store gives, and the columns they have.
public enum StoreRows: Sendable {
    /// `fineWindows`: those whose starts are not all whole seconds.
    case readings, windows, fineWindows, gaps, runs

    /// - Parameter width: of windows; each begins at a whole multiple of it.
    public init(windowsOf width: Duration) {
        self = width.nanoseconds % 1_000_000_000 == 0 ? .windows : .fineWindows
    }

    struct Column {
        enum Kind { case text, time, name, number }

        let heading: String
        let width: Int
        let kind: Kind

        init(_ heading: String, _ width: Int, _ kind: Kind = .text) {
            self.heading = heading
            self.width = width
            self.kind = kind
        }

        var isName: Bool { kind == .name }
        var isTime: Bool { kind == .time }
        var isRight: Bool { kind == .number }

        func title(_ times: ShownTimes) -> String {
            isTime ? "\(heading) (\(times.name))" : heading
        }
    }

    /// 80 columns together, with a space between each two.
    var table: [Column] {
        switch self {
        case .readings: Self.readingsTable
        case .windows: Self.windowsTable
        case .fineWindows: Self.fineWindowsTable
        case .gaps: Self.gapsTable
        case .runs: Self.runsTable
        }
    }

    var csvColumns: [String] {
        switch self {
        case .readings:
            [
                "time", "clock", "peer", "run", "node", "channel", "unit", "sequence", "value",
                "reason", "hops", "labels",
            ]
        case .windows, .fineWindows: WindowRecord.csvColumns
        case .gaps: ["peer", "run", "node", "sequence", "count", "reason"]
        case .runs:
            ["peer", "run", "node", "boot", "clock", "from", "to", "channels", "settled"]
        }
    }

    private static let readingsTable = [
        Column("TIME", 24, .time), Column("NODE", 12, .name), Column("CHANNEL", 16, .name),
        Column("VALUE", 14, .number), Column("UNIT", 6), Column("HOP", 3, .number),
    ]
    private static let windowsTable = [
        Column("START", 20, .time), Column("NODE", 8, .name), Column("CHANNEL", 10, .name),
        Column("MEAN", 8, .number), Column("MIN", 7, .number), Column("MAX", 7, .number),
        Column("UNIT", 5), Column("N", 3, .number), Column("LOST", 4, .number),
    ]
    /// Names make room for the fraction.
    private static let fineWindowsTable = [
        Column("START", 24, .time), Column("NODE", 6, .name), Column("CHANNEL", 8, .name),
        Column("MEAN", 8, .number), Column("MIN", 7, .number), Column("MAX", 7, .number),
        Column("UNIT", 5), Column("N", 3, .number), Column("LOST", 4, .number),
    ]
    private static let gapsTable = [
        Column("NODE", 20, .name), Column("RUN", 16), Column("FIRST", 12, .number),
        Column("COUNT", 12, .number), Column("REASON", 16),
    ]
    private static let runsTable = [
        Column("NODE", 12, .name), Column("RUN", 16), Column("FIRST", 20, .time),
        Column("LAST", 20, .time), Column("SETTLED", 8, .number),
    ]
}
