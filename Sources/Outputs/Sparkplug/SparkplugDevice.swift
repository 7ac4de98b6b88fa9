import NearbyCore
import Telemetry

/// A node as a device of Sparkplug B.
struct SparkplugDevice: Sendable {
    var peer: PeerID
    var name = ""
    /// What it is called at the broker.
    var segment = ""
    var model = ""
    var version = ""
    var labels: [Label] = []
    var isOnline = false
    /// Whether its birth certificate names all its channels.
    var isBorn = false
    /// The collector's uptime when it first did not know the node, since the device was born.
    var absentSince: Duration?
    /// By name.
    var channels: [String: MetricAlias] = [:]

    struct MetricAlias: Sendable {
        var alias: UInt64
        var unit: Unit
        /// The newest reading; nil: none yet. Milliseconds since 1970.
        var last: Outcome?
        var utc: Int64 = 0
    }

    init(peer: PeerID) { self.peer = peer }

    /// True if the channel is new, and has the alias; then the device has to be born again.
    mutating func introduce(_ name: String, _ unit: Unit, _ scale: Int8, alias: UInt64) -> Bool {
        if let known = channels[name] {
            guard known.unit != unit else { return false }
            channels[name]?.unit = unit
            channels[name]?.last = nil
            isBorn = false
            return false
        }
        // The one that has been silent for longest makes room: a node has no more at a time.
        if channels.count >= Limits.channelsPerRunMax,
            let oldest = channels.min(by: { ($0.value.utc, $0.key) < ($1.value.utc, $1.key) })?.key
        {
            channels[oldest] = nil
        }
        channels[name] = MetricAlias(alias: alias, unit: unit)
        isBorn = false
        return true
    }

    /// Everything that it will ever send, with its value now.
    func birthMetrics(_ utc: Int64) -> [SparkplugMetric] {
        var metrics = [("Properties/PeerID", peer.description)]
        if !model.isEmpty { metrics.append(("Properties/Model", model)) }
        if !version.isEmpty { metrics.append(("Properties/Software", "Rivulet " + version)) }
        for label in labels { metrics.append(("Labels/" + label.key, label.value)) }
        let known = metrics.map { name, text in
            SparkplugMetric(
                name: name, timestamp: utc, hasDatatype: true, value: .string(text))
        }
        return known
            + channels.sorted { $0.key < $1.key }.map { name, channel in
                SparkplugMetric(
                    name: name, alias: channel.alias,
                    timestamp: channel.last == nil ? utc : channel.utc, hasDatatype: true,
                    unit: channel.unit.symbol,
                    value: channel.last.map(SparkplugMetric.Value.init) ?? .null("no reading yet"))
            }
    }
}

extension SparkplugMetric.Value {
    init(_ outcome: Outcome) {
        switch outcome {
        case .value(let value): self = .double(value.double)
        case .null(let reason): self = .null(reason.description)
        }
    }
}
