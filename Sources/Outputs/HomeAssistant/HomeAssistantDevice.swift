import Fleet
import NearbyCore
import Telemetry

/// A node as Home Assistant's MQTT discovery describes devices and their entities.
struct HomeAssistantDevice: Sendable {
    /// What the entities of all nodes share.
    struct Common: Sendable {
        /// The discovery prefix.
        var prefix: String
        /// Where the collector says that it is there.
        var collectorTopic: String
        /// The collector's.
        var version: String
        var isJSON: Bool
    }

    var common: Common
    var peer: PeerID
    var name: String
    var model: String
    var version: String
    var labels: [Label]
    /// `<prefix>/<network>/<node>`.
    var topic: String

    struct SensorEntity: Sendable {
        var name: String
        var unit: Unit
        var scale: Int8
        var topic: String
        var expireSeconds: Int?
    }

    /// Digits and letters of the PeerID only.
    var identifier: String { Self.identifier(of: peer) }

    static func identifier(of peer: PeerID) -> String {
        "rivulet_" + peer.description.filter { $0 != "-" }
    }

    /// Nil if it identifies no node of ours.
    static func peer(ofIdentifier text: String) -> PeerID? {
        PeerID(text: String(text.dropFirst("rivulet_".count))).flatMap {
            identifier(of: $0) == text ? $0 : nil
        }
    }

    func configTopic(_ object: String) -> String {
        "\(common.prefix)/sensor/\(identifier)/\(object)/config"
    }

    // MARK: Channels

    static func object(ofChannel name: String) -> String { "c-" + TopicSegment.identifier(name) }

    /// Nil if it is not a channel's object.
    static func channel(ofObject object: String) -> String? {
        guard object.utf8.starts(with: "c-".utf8) else { return nil }
        return TopicSegment.name(ofIdentifier: String(object.dropFirst(2)))
    }

    /// Whether a configuration was written by the collector with this topic.
    static func isOurs(_ payload: [UInt8], collectorTopic: String) -> Bool {
        var json = JSONText()
        json.object { $0.add("topic", collectorTopic) }
        let origin = Array("\"origin\":{\"name\":\"Rivulet\"".utf8)
        return payload.contains(json.bytes) && payload.contains(origin)
    }

    /// The configuration of a channel's entity.
    func channelConfig(_ channel: SensorEntity) -> MQTTMessage {
        let object = Self.object(ofChannel: channel.name)
        let kind = HomeAssistantClass(channel.unit, channel: channel.name)
        let payload = config(object, name: channel.name, isNodeNeeded: true) { json in
            json.add("state_topic", channel.topic)
            json.add(
                "value_template",
                common.isJSON
                    ? "{{ value_json.value }}" : "{{ None if value == 'null' else value }}")
            if let unit = kind.unit { json.add("unit_of_measurement", unit) }
            if let device = kind.device { json.add("device_class", device) }
            json.add("state_class", kind.state)
            if kind.isDiagnostic { json.add("entity_category", "diagnostic") }
            if channel.scale < 0 {
                json.add("suggested_display_precision", min(-Int(channel.scale), 9))
            }
            if let seconds = channel.expireSeconds { json.add("expire_after", seconds) }
        }
        return MQTTMessage(configTopic(object), payload, isRetained: true)
    }

    // MARK: What is known of the node

    /// A diagnostic entity: a member of the node's description.
    struct Diagnostic: Sendable {
        var member: String
        var name: String
        var device: String?
        var unit: String?
        var isMeasurement = false
        var icon: String?
    }

    static let diagnostics = [
        Diagnostic(member: "link", name: "Link", icon: "mdi:lan-connect"),
        Diagnostic(
            member: "hops", name: "Hops", isMeasurement: true, icon: "mdi:transit-connection"),
        Diagnostic(
            member: "battery", name: "Battery", device: "battery", unit: "%", isMeasurement: true),
        Diagnostic(
            member: "signal", name: "Signal", device: "signal_strength", unit: "dBm",
            isMeasurement: true),
        Diagnostic(member: "last_seen", name: "Last seen", device: "timestamp"),
        Diagnostic(member: "clock", name: "Clock", icon: "mdi:clock-check-outline"),
    ]

    func config(_ diagnostic: Diagnostic) -> MQTTMessage {
        let object = "n-" + diagnostic.member
        let payload = config(object, name: diagnostic.name, isNodeNeeded: false) { json in
            json.add("state_topic", topic + "/$node")
            json.add("value_template", "{{ value_json.\(diagnostic.member) }}")
            json.add("entity_category", "diagnostic")
            if let device = diagnostic.device { json.add("device_class", device) }
            if let unit = diagnostic.unit { json.add("unit_of_measurement", unit) }
            if diagnostic.isMeasurement { json.add("state_class", "measurement") }
            if let icon = diagnostic.icon { json.add("icon", icon) }
        }
        return MQTTMessage(configTopic(object), payload, isRetained: true)
    }

    // MARK: Parts

    /// - Parameter isNodeNeeded: whether the entity is unavailable while the node is offline.
    private func config(
        _ object: String, name entity: String, isNodeNeeded: Bool,
        _ members: (inout JSONText) -> Void
    ) -> [UInt8] {
        var json = JSONText()
        json.object { json in
            json.add("name", entity)
            json.add("unique_id", identifier + "_" + object)
            members(&json)
            json.key("availability")
            let topics = [common.collectorTopic] + (isNodeNeeded ? [topic + "/$availability"] : [])
            json.array(topics) { json, topic in json.object { $0.add("topic", topic) } }
            json.add("availability_mode", "all")
            json.key("device")
            device(&json)
            json.key("origin")
            json.object { json in
                json.add("name", "Rivulet")
                if !common.version.isEmpty { json.add("sw_version", common.version) }
            }
        }
        return json.bytes
    }

    private func device(_ json: inout JSONText) {
        json.object { json in
            json.key("identifiers")
            json.array([identifier]) { $0.string($1) }
            json.add("name", name)
            json.add("manufacturer", "Rivulet")
            if !model.isEmpty { json.add("model", model) }
            if !version.isEmpty { json.add("sw_version", version) }
            if let area { json.add("suggested_area", area) }
        }
    }

    /// Where the node is, if one of its labels says it.
    private var area: String? {
        for key in ["area", "room", "location", "place"] {
            if let label = labels.first(where: { $0.key.lowercased() == key }), !label.value.isEmpty
            {
                return label.value
            }
        }
        return nil
    }
}
