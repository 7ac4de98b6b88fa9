import Fleet
import NearbyCore
import Telemetry

/// What is different between two snapshots, as JSON. A node of which only readings are new is told
/// by these; others come whole.
enum FleetChange {
    static func text(from old: FleetSnapshot, to new: FleetSnapshot) -> [UInt8] {
        let before = Dictionary(old.nodes.map { ($0.peer, $0) }) { first, _ in first }
        var json = JSONText()
        json.object { json in
            json.key("collector")
            FleetJSON.collector(&json, new.collector)
            addNodes(&json, before, old.collector.utc, new)
            if old.links != new.links {
                json.key("links")
                json.array(new.links) { FleetJSON.link(&$0, $1) }
            }
            if old.outputs != new.outputs {
                json.key("outputs")
                json.array(new.outputs) { FleetJSON.output(&$0, $1) }
            }
            if old.alarms != new.alarms {
                json.key("alarms")
                json.array(new.alarms) { FleetJSON.alarm(&$0, $1) }
            }
        }
        return json.bytes
    }

    private static func addNodes(
        _ json: inout JSONText, _ before: [PeerID: FleetNode], _ then: Int64,
        _ new: FleetSnapshot
    ) {
        let now = new.collector.utc
        // The former node of each of which only readings are new; nil: it is told whole.
        let former = new.nodes.map { node in
            before[node.peer].flatMap { isSameApartFromReadings($0, node) ? $0 : nil }
        }
        json.key("nodes")
        json.array { json in
            for (node, old) in zip(new.nodes, former) where old == nil {
                FleetJSON.node(&json, node, at: now)
            }
        }
        json.key("news")
        json.array { json in
            for (node, old) in zip(new.nodes, former) {
                if let old { addNews(&json, node, at: now, since: old, then) }
            }
        }
        let there = Set(new.nodes.map(\.peer))
        json.key("gone")
        json.array(before.keys.filter { !there.contains($0) }.sorted()) {
            $0.string($1.description)
        }
    }

    /// Whether what seldom changes of a node is as it was. Nothing of its channels is copied: there
    /// are twenty thousand.
    private static func isSameApartFromReadings(_ old: FleetNode, _ new: FleetNode) -> Bool {
        guard old.channels.count == new.channels.count else { return false }
        var (left, right) = (old, new)
        (left.age, left.readingCount, left.channels) = (nil, 0, [])
        (right.age, right.readingCount, right.channels) = (nil, 0, [])
        guard left == right else { return false }
        return zip(old.channels, new.channels).allSatisfy {
            $0.name == $1.name && $0.storedName == $1.storedName && $0.unit == $1.unit
                && $0.scale == $1.scale
        }
    }

    private static func addNews(
        _ json: inout JSONText, _ node: FleetNode, at now: Int64, since old: FleetNode,
        _ then: Int64
    ) {
        let heard = FleetJSON.heard(node, at: now)
        let changed = node.channels.indices.filter {
            !isSame(node.channels[$0], old.channels[$0])
        }
        guard heard != FleetJSON.heard(old, at: then) || !changed.isEmpty else { return }
        // Most channels of a node are measured together.
        let utc = changed.first.map { node.channels[$0].utc / 1_000_000 }
        json.object { json in
            json.add("peer", node.peer.description)
            json.add("heard", heard)
            json.add("readings", node.readingCount)
            json.add("utc", utc)
            json.key("channels")
            json.array(changed) { add(&$0, $1, node.channels[$1], utc) }
        }
    }

    /// Which of the node's channels and its value; when, if that is another time than `utc`; the
    /// reason where there is no value. The most frequent of all that is told: kept short.
    private static func add(
        _ json: inout JSONText, _ place: Int, _ channel: FleetChannel, _ utc: Int64?
    ) {
        let own = channel.utc / 1_000_000
        json.array { json in
            json.integer(place)
            switch channel.last {
            case .value(let value):
                json.decimal(value)
                if own != utc { json.integer(own) }
            case .null(let reason):
                json.null()
                if own != utc { json.integer(own) } else { json.null() }
                json.string(reason.description)
            }
        }
    }

    /// As it is written: 21.5 is not 21.50.
    private static func isSame(_ left: FleetChannel, _ right: FleetChannel) -> Bool {
        left == right && left.last.value?.exponent == right.last.value?.exponent
    }
}
