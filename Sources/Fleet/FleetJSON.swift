import NearbyCore
import Telemetry

/// A snapshot as JSON: what the page, `rivulet top` and the control socket read. Times are
/// milliseconds since 1970; ages and uptimes are seconds.
public enum FleetJSON {
    public static func text(_ snapshot: FleetSnapshot) -> [UInt8] {
        var json = JSONText()
        json.object { self.snapshot(&$0, snapshot) }
        return json.bytes
    }

    /// The members of a snapshot's object.
    public static func snapshot(_ json: inout JSONText, _ snapshot: FleetSnapshot) {
        json.key("collector")
        collector(&json, snapshot.collector)
        json.key("nodes")
        json.array(snapshot.nodes) { node(&$0, $1, at: snapshot.collector.utc) }
        rest(&json, snapshot)
    }

    /// The members beside the collector and the nodes.
    static func rest(_ json: inout JSONText, _ snapshot: FleetSnapshot) {
        json.key("links")
        json.array(snapshot.links) { link(&$0, $1) }
        json.key("outputs")
        json.array(snapshot.outputs) { output(&$0, $1) }
        json.key("alarms")
        json.array(snapshot.alarms) { alarm(&$0, $1) }
    }

    public static func collector(_ json: inout JSONText, _ collector: FleetCollector) {
        json.object { json in
            json.add("peer", collector.peer.description)
            json.add("name", collector.name)
            json.add("network", collector.network)
            json.add("version", collector.version)
            json.add("utc", milliseconds(collector.utc))
            json.add("uptime", collector.uptime.components.seconds)
            json.add("readings", collector.readingCount)
            json.add("uncommitted", collector.uncommittedCount)
            json.add("storeFault", collector.storeFault)
            json.add("storeBytes", collector.storeBytes)
            json.key("drops")
            json.array(collector.drops) { json, drop in
                json.object { json in
                    json.add("reason", drop.reason)
                    json.add("count", drop.count)
                }
            }
        }
    }

    // MARK: Nodes

    /// - Parameter utc: when the snapshot was made, nanoseconds since 1970.
    public static func node(_ json: inout JSONText, _ node: FleetNode, at utc: Int64) {
        json.object { json in
            json.add("peer", node.peer.description)
            json.add("name", node.name)
            if let stored = node.storedName { json.add("storedName", stored) }
            json.add("role", node.role)
            json.add("board", node.board)
            json.add("version", node.version)
            json.key("labels")
            json.array(node.labels) { json, label in
                json.array { json in
                    json.string(label.key)
                    json.string(label.value)
                }
            }
            json.add("online", flag: node.isOnline)
            json.add("heard", heard(node, at: utc))
            json.add("via", node.via?.description)
            json.add("hops", node.hops)
            json.add("link", node.link)
            json.add("signal", number: node.signal)
            json.add("battery", number: node.battery)
            json.add("clock", node.clock)
            json.add("readings", node.readingCount)
            json.add("lost", node.lostCount)
            json.key("channels")
            json.array(node.channels) { channel(&$0, $1) }
        }
    }

    /// When a node was last heard of, milliseconds since 1970; nil: never.
    public static func heard(_ node: FleetNode, at utc: Int64) -> Int64? {
        node.age.map { milliseconds(utc.subtractingSaturating($0.nanoseconds)) }
    }

    public static func channel(_ json: inout JSONText, _ channel: FleetChannel) {
        json.object { json in
            json.add("name", channel.name)
            if let stored = channel.storedName { json.add("storedName", stored) }
            json.add("unit", channel.unit.name)
            json.add("symbol", channel.unit.symbol)
            json.add("digits", max(0, -Int(channel.scale)))
            reading(&json, channel)
        }
    }

    /// What changes of a channel, as members: the value, or null and the reason; when and how far.
    public static func reading(_ json: inout JSONText, _ channel: FleetChannel) {
        json.key("value")
        switch channel.last {
        case .value(let value): json.decimal(value)
        case .null(let reason):
            json.null()
            json.add("reason", reason.description)
        }
        json.add("utc", milliseconds(channel.utc))
        json.add("hops", channel.hops)
    }

    // MARK: The rest

    public static func link(_ json: inout JSONText, _ link: FleetLink) {
        json.object { json in
            json.add("from", link.from.description)
            json.add("to", link.to.description)
            json.add("link", link.link)
            json.add("cost", link.cost)
            json.add("loss", number: link.lossPercent)
            json.add("direct", flag: link.isDirect)
        }
    }

    public static func output(_ json: inout JSONText, _ output: OutputStatus) {
        json.object { json in
            json.add("name", output.name)
            json.add("kind", output.kind)
            json.add("target", output.target)
            json.add("phase", output.phase.rawValue)
            json.add("waiting", output.waitingCount)
            json.add("lag", output.lag.components.seconds)
            json.add("delivered", output.deliveredCount)
            json.add("refused", output.refusedCount)
            json.add("lost", output.lostCount)
            json.add("fault", output.lastFault)
            json.add("failingSeconds", output.failingSince?.components.seconds)
        }
    }

    public static func alarm(_ json: inout JSONText, _ alarm: FleetAlarm) {
        json.object { json in
            json.add("name", alarm.name)
            json.add("node", alarm.node)
            json.add("channel", alarm.channel)
            json.add("condition", alarm.condition)
            json.add("active", flag: alarm.isActive)
            json.add("since", milliseconds(alarm.since))
            json.add("until", alarm.until.map(milliseconds))
        }
    }

    static func milliseconds(_ nanoseconds: Int64) -> Int64 { nanoseconds / 1_000_000 }
}
