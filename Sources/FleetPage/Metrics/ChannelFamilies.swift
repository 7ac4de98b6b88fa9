import Fleet
import Outputs
import Telemetry

/// The newest readings of channels as families of gauges, each with its samples as lines.
///
/// Twenty thousand samples are written for each scrape: so a metric's name is made once for each
/// name and unit of a channel, and a node's labels once for each node.
struct ChannelFamilies {
    struct Family {
        let name: String
        let unit: String
        fileprivate(set) var lines: [UInt8] = []
    }

    private struct Kind: Hashable {
        let channel: String
        let unit: Unit
    }

    private struct Place {
        let family: Int
        let unit: MetricUnit
        /// `rivulet_air_celsius{channel="air",`
        let head: [UInt8]
    }

    /// By name alone: two units can come to one name.
    private var families: [Family] = []
    private var named: [String: Int] = [:]
    private var places: [Kind: Place] = [:]

    /// What is no longer known to hold is left out, so that Prometheus marks its series stale:
    /// channels whose last reading has no value, and those of nodes that are silent.
    init(_ nodes: [FleetNode]) {
        for node in nodes where node.isOnline { add(node) }
    }

    var ascending: [Family] { families.sorted { $0.name < $1.name } }

    private mutating func add(_ node: FleetNode) {
        // `channel` comes before all of these: labels stand in ascending order.
        let labels = MetricLabels(
            node: node.name, peer: node.peer, channel: "", labels: node.labels)
        let tail = Array((labels.list + "} ").utf8)
        // Two channels of one name, in units that come to one: Prometheus takes a series once.
        // They stand one after the other.
        var before: (channel: String, family: Int)?
        for channel in node.channels {
            guard let value = channel.last.value else { continue }
            let place = place(of: Kind(channel: channel.name, unit: channel.unit))
            guard let converted = place.unit.convert(value) else { continue }
            if let before, before == (channel.name, place.family) { continue }
            before = (channel.name, place.family)
            families[place.family].lines += place.head
            families[place.family].lines += tail
            families[place.family].lines += converted.description.utf8
            families[place.family].lines.append(UInt8(ascii: "\n"))
        }
    }

    private mutating func place(of kind: Kind) -> Place {
        if let known = places[kind] { return known }
        let name = MetricName(channel: kind.channel, unit: kind.unit)
        let family = named[name.text] ?? families.count
        if family == families.count {
            families.append(Family(name: name.text, unit: name.unit.suffix))
            named[name.text] = family
        }
        var head = name.text + "{"
        if !kind.channel.isEmpty {
            head += "channel=\"\(MetricLabels.escaped(kind.channel))\","
        }
        let place = Place(family: family, unit: name.unit, head: Array(head.utf8))
        places[kind] = place
        return place
    }
}
