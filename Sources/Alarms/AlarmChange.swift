import Fleet
import NearbyCore
import Telemetry

/// An alarm that begins to hold, or no longer does.
public struct AlarmChange: Hashable, Sendable {
    /// The index among the rules; nil: the alarm is no longer configured.
    public var rule: Int?
    /// As configured.
    public var name: String
    public var peer: PeerID
    /// Foreign text, as the next two.
    public var node: String
    /// Empty where it is the node's silence.
    public var channel: String
    /// "above 30 °C for 5 min".
    public var condition: String
    /// The channel's.
    public var unit: Unit
    /// "31.5 °C", or why there is no value; empty where it is the node's silence.
    public var value: String
    /// Whether it holds now.
    public var isActive: Bool
    /// It ends because nothing is watched any more that could tell whether it still holds.
    var isUnwatched = false
    /// Since when it holds, or held, by our clock.
    public var since: Instant
    /// When this was.
    public var time: Instant

    /// For a webhook: one object.
    ///
    /// - Parameter unixOffset: added to our clock gives UTC.
    public func json(unixOffset: Duration, collector: String, network: String) -> String {
        var json = JSONText()
        json.object { json in
            json.add("alarm", name)
            json.add("state", state)
            json.add("node", node)
            json.add("peer", peer.description)
            json.add("channel", channel)
            json.add("condition", condition)
            json.add("value", value)
            json.add("since", (since + unixOffset).nanoseconds / 1_000_000)
            json.add("time", (time + unixOffset).nanoseconds / 1_000_000)
            json.add("collector", collector)
            json.add("network", network)
        }
        return json.text
    }

    /// For a command's environment.
    public func environment(unixOffset: Duration) -> [(name: String, value: String)] {
        [
            ("NAME", name), ("STATE", state), ("NODE", node), ("PEER", peer.description),
            ("CHANNEL", channel), ("CONDITION", condition), ("VALUE", value),
            ("SINCE", String((since + unixOffset).nanoseconds / 1_000_000_000)),
            ("TIME", String((time + unixOffset).nanoseconds / 1_000_000_000)),
        ].map { ("RIVULET_ALARM_" + $0.0, Self.plain($0.1)) }
    }

    public var state: String { isActive ? "active" : "cleared" }

    /// A line for the log.
    public var text: String {
        let what = channel.isEmpty ? node : "\(channel) of \(node)"
        let now = value.isEmpty ? "" : " (\(value))"
        return "alarm \(name): \(what) \(predicate)\(now)"
    }

    /// What is so of the channel or the node.
    private var predicate: String {
        if isUnwatched { return "is no longer watched, so the alarm is cleared" }
        if channel.isEmpty { return isActive ? "has been \(condition)" : "is heard again" }
        if condition.hasPrefix(AlarmRule.failingText) {
            return isActive ? "has had \(condition)" : "has values again"
        }
        return isActive ? "is \(condition)" : "is no longer \(condition)"
    }

    /// Without what ends a C string or a line.
    private static func plain(_ foreign: String) -> String {
        String(
            String.UnicodeScalarView(
                foreign.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7f ? "?" : $0 }))
    }
}
