import Fleet
import NearbyCore

extension TopicPublisher {
    /// Publishes alarms that are to be, whenever one of them has changed; those that are no longer
    /// listed go.
    mutating func tell(_ alarms: [FleetAlarm], _ outputs: inout [Output]) {
        var listed: Set<String> = []
        for alarm in alarms where alarm.isPublished {
            let topic = topic(of: alarm)
            let payload = payload(of: alarm)
            // The newest counts: it may have been active before, within the day.
            guard listed.insert(topic).inserted, self.alarms[topic] != payload else { continue }
            self.alarms[topic] = payload
            outputs.append(.publish(MQTTMessage(topic, payload, isRetained: true)))
        }
        for topic in self.alarms.keys.filter({ !listed.contains($0) }).sorted() {
            self.alarms[topic] = nil
            outputs.append(.publish(.clearing(topic)))
        }
    }

    /// Of this collector's own alarms the broker gives back what became of rules that are no longer
    /// there; those of other collectors are theirs.
    mutating func rememberAlarm(_ topic: String, _ payload: [UInt8]) {
        guard payload.starts(with: Self.start(of: options.collector)) else { return }
        alarms[topic] = payload
    }

    /// Begins with what we read from it ourselves after a restart.
    private static func start(of collector: PeerID) -> [UInt8] {
        Array("{\"collector\":\"\(collector)\"".utf8)
    }

    private func topic(of alarm: FleetAlarm) -> String {
        let node = nodes[alarm.peer]?.segment ?? TopicSegment.escaped(alarm.node)
        let channel = alarm.channel.isEmpty ? "" : "/" + TopicSegment.escaped(alarm.channel)
        return "\(root)/$alarms/\(TopicSegment.escaped(alarm.name))/\(node)\(channel)"
    }

    private func payload(of alarm: FleetAlarm) -> [UInt8] {
        var json = JSONText()
        json.object { json in
            json.add("collector", options.collector.description)
            json.add("alarm", alarm.name)
            json.add("state", alarm.isActive ? "active" : "cleared")
            json.add("node", alarm.node)
            json.add("peer", alarm.peer.description)
            json.add("channel", alarm.channel.isEmpty ? nil : alarm.channel)
            json.add("condition", alarm.condition)
            json.add("since", ReadingJSON.time(alarm.since))
            json.add("until", alarm.until.map(ReadingJSON.time))
        }
        return json.bytes
    }
}
