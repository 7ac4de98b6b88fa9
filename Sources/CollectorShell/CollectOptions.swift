import Collector
import NearbyLinux
import NodeShell

/// How `rivulet collect` prints, and for how long.
public struct CollectOptions {
    /// `none` prints nothing: a service that stores.
    public enum Format: String, CaseIterable { case table, json, csv, none }

    /// When a table is coloured; `auto`: on a terminal.
    public enum ColourChoice: String, CaseIterable { case auto, always, never }

    public var format = Format.table
    public var colour = ColourChoice.auto
    /// Only the nodes whose names or PeerIDs match any of these; empty: all.
    public var nodes: [Glob] = []
    /// Only these channels.
    public var channels: [Glob] = []
    /// Names, units and values as agents send them.
    public var raw = false
    /// Times of day of tables in UTC, not in this machine's zone.
    public var utc = false
    /// How much is logged; nil: what suits the output.
    public var logLevel: StandardErrorLog.Level?
    /// The span of a window; nil: as configured.
    public var every: Duration?
    /// Ends after this time.
    public var limit: Duration?
    /// Ends after the first window with readings.
    public var once = false
    /// Tells of each report on standard error: `report NANOSECONDS-SINCE-1970 NAME READINGS`.
    public var traces = false

    public init() {}

    /// Tables are drawn over each other.
    var hasScreen: Bool { format == .table && Terminal.takesSequences }

    /// How tables fit the terminal.
    var tableSettings: TablePrinter.Settings {
        let size = Terminal.size
        var settings = TablePrinter.Settings(
            isLive: hasScreen, lines: hasScreen ? size.lines : 0)
        if hasScreen, size.columns > 0 { settings.width = size.columns }
        settings.hasColours =
            switch colour {
            case .auto: Terminal.takesColours
            case .always: true
            case .never: false
            }
        return settings
    }
}
