import Collector
import NearbyCore
import Telemetry

extension Limits {
    /// Nodes whose silence is watched; further ones are not, and counted.
    static let alarmNodesMax = 4_096
    /// Channels that alarms watch, of all nodes together.
    static let alarmChannelsMax = 65_536
    /// Conditions that hold, or may soon.
    static let alarmStatesMax = 16_384
    /// Alarms that ended and are still shown.
    static let alarmEndedMax = 256
}

/// One alarm as it is configured: a condition, and what it is over.
public struct AlarmRule: Hashable, Sendable {
    public enum Condition: Hashable, Sendable {
        /// A value greater than the limit; over when one is at most limit − hysteresis.
        case above(DecimalValue, hysteresis: DecimalValue)
        /// A value smaller than the limit; over when one is at least limit + hysteresis.
        case below(DecimalValue, hysteresis: DecimalValue)
        /// No values, only nulls.
        case failing
        /// The node is out of reach, and nothing comes.
        case silent
    }

    /// Unlike all others'.
    public var name: String
    /// A pattern for names of nodes, or a PeerID.
    public var node: String
    /// A pattern for names of channels.
    public var channel: String
    public var condition: Condition
    /// For how long it has to hold.
    public var hold: Duration
    /// Whether brokers are told.
    public var isPublished: Bool

    public init(
        name: String, node: String, channel: String, condition: Condition, hold: Duration,
        isPublished: Bool = false
    ) {
        self.name = name
        self.node = node
        self.channel = channel
        self.condition = condition
        self.hold = hold
        self.isPublished = isPublished
    }

    func isMeant(for peer: PeerID, named node: String) -> Bool {
        PeerID(text: self.node).map { $0 == peer } ?? Glob(self.node).matches(node)
    }

    /// - Parameter channel: empty for the node's silence.
    func isAbout(_ channel: String) -> Bool {
        guard condition != .silent else { return channel.isEmpty }
        return !channel.isEmpty && Glob(self.channel).matches(channel)
    }

    /// What a value says of the condition.
    enum Verdict { case holds, isOver, neither }

    func verdict(_ outcome: Outcome) -> Verdict {
        switch (condition, outcome) {
        case (.above(let limit, let hysteresis), .value(let value)):
            if value > limit { return .holds }
            return value <= limit.subtracting(hysteresis) ?? limit ? .isOver : .neither
        case (.below(let limit, let hysteresis), .value(let value)):
            if value < limit { return .holds }
            return value >= limit.adding(hysteresis) ?? limit ? .isOver : .neither
        case (.failing, .null): return .holds
        case (.failing, .value): return .isOver
        // What is not known proves nothing.
        case (.above, .null), (.below, .null), (.silent, _): return .neither
        }
    }

    /// `above 30 °C for 5 min`.
    func text(_ unit: Unit) -> String {
        let symbol = unit.symbol.isEmpty ? "" : " " + unit.symbol
        let text =
            switch condition {
            case .above(let limit, _): "above \(limit)\(symbol)"
            case .below(let limit, _): "below \(limit)\(symbol)"
            case .failing: Self.failingText
            case .silent: "silent"
            }
        return hold > .zero ? text + " for " + Self.text(hold) : text
    }

    static let failingText = "no values"

    private static func text(_ duration: Duration) -> String {
        let milliseconds = duration.milliseconds
        let units: [(Int64, String)] = [
            (86_400_000, "d"), (3_600_000, "h"), (60_000, "min"), (1_000, "s"), (1, "ms"),
        ]
        let unit = units.first { milliseconds % $0.0 == 0 } ?? (1, "ms")
        return "\(milliseconds / unit.0) \(unit.1)"
    }
}

/// Which rule about what.
struct AlarmKey: Hashable, Comparable, Sendable {
    /// Among the rules.
    var rule: Int
    var peer: PeerID
    /// Empty where it is the node's silence.
    var channel: String

    static func < (left: AlarmKey, right: AlarmKey) -> Bool {
        (left.rule, left.peer, left.channel) < (right.rule, right.peer, right.channel)
    }
}
