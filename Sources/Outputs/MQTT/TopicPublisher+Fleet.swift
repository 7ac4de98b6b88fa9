import Fleet
import NearbyCore
import Telemetry

extension TopicPublisher {
    /// What is new about nodes: who is there, what is known of them, what Home Assistant is told.
    /// - Parameter limit: outputs of one pass, about; what is left out comes in the next.
    public mutating func messages(of fleet: FleetSnapshot, limit: Int) -> [Output] {
        version = fleet.collector.version
        var outputs: [Output] = []
        for seen in fleet.nodes where isShown(seen) {
            guard outputs.count < limit else { return outputs }
            guard isRecent(seen, fleet.collector.utc),
                let node = node(seen.peer, named: seen.name, &outputs)
            else { continue }
            nodes[seen.peer] = update(node, seen, fleet.collector, &outputs)
        }
        missAbsent(fleet, limit, &outputs)
        retireSilent(fleet, &outputs)
        tell(fleet.alarms, &outputs)
        return outputs
    }

    /// Collectors and viewers measure nothing.
    private func isShown(_ node: FleetNode) -> Bool {
        !node.name.isEmpty && node.role != "collector" && node.role != "viewer"
    }

    /// Whether it was heard of within the time for which nodes are remembered.
    private func isRecent(_ node: FleetNode, _ utc: Int64) -> Bool {
        let seen = max(lastSeen(node, utc), nodes[node.peer]?.seen ?? 0)
        return node.isOnline || seen > utc / 1_000_000_000 - options.forget.components.seconds
    }

    /// Seconds since 1970; 0: never.
    private func lastSeen(_ node: FleetNode, _ utc: Int64) -> Int64 {
        node.age.map { max(0, utc / 1_000_000_000 - $0.components.seconds) } ?? 0
    }

    private mutating func update(
        _ former: TopicNode, _ seen: FleetNode, _ collector: FleetCollector,
        _ outputs: inout [Output]
    ) -> TopicNode {
        let utc = collector.utc
        var node = former
        node.absentSince = nil
        node.model = seen.board.isEmpty ? node.model : seen.board
        node.version = seen.version
        node.labels = seen.labels.isEmpty ? node.labels : seen.labels
        node.seen = max(node.seen, lastSeen(seen, utc))
        // Soon after a start, silence says nothing yet.
        if seen.isOnline || node.isOnline != nil || collector.uptime >= Limits.brokerPatience {
            tell(&node, isOnline: seen.isOnline, &outputs)
        }
        describe(&node, seen, utc, &outputs)
        match(&node, seen, utc, &outputs)
        announce(&node, seen, &outputs)
        return node
    }

    private func tell(
        _ node: inout TopicNode, isOnline: Bool, _ outputs: inout [Output]
    ) {
        guard node.isOnline != isOnline else { return }
        node.isOnline = isOnline
        outputs.append(
            .publish(
                MQTTMessage(
                    topic(of: node) + "/$availability", Self.word(isOnline), isRetained: true)))
    }

    /// Nodes that the broker, or readings, tell of and that are not heard: boards that ended while
    /// no collector was there.
    private mutating func missAbsent(
        _ fleet: FleetSnapshot, _ limit: Int, _ outputs: inout [Output]
    ) {
        // Before the first snapshot everybody is absent.
        guard fleet.collector.utc > 0 else { return }
        let uptime = fleet.collector.uptime
        let present = Set(fleet.nodes.filter { isShown($0) || $0.isOnline }.map(\.peer))
        // One that another collector has heard since then, as the broker says, is there.
        let start = fleet.collector.utc / 1_000_000_000 - uptime.components.seconds
        let absent = nodes.values.filter {
            $0.isOnline != false && ($0.isOnline == true || $0.seen <= start)
                && !present.contains($0.peer)
        }
        for var node in absent.sorted(by: { $0.peer < $1.peer }) {
            guard outputs.count < limit else { return }
            let since = node.absentSince ?? uptime
            node.absentSince = since
            if uptime - since >= Limits.brokerPatience {
                tell(&node, isOnline: false, &outputs)
            }
            nodes[node.peer] = node
        }
    }

    /// Publishes what is known of a node when it changes, and what changes all the time once in ten
    /// seconds while it is there.
    private func describe(
        _ node: inout TopicNode, _ seen: FleetNode, _ utc: Int64, _ outputs: inout [Output]
    ) {
        let isDue = seen.isOnline && utc - node.describedUTC >= 10_000_000_000
        let (full, steady) = seen.description(seen: node.seen, named: node.name)
        guard steady != node.described || isDue else { return }
        node.described = steady
        node.describedUTC = utc
        outputs.append(.publish(MQTTMessage(topic(of: node) + "/$node", full, isRetained: true)))
    }

    /// Channels that the node has now; those that it has not had for ten minutes go, although it is
    /// there.
    private mutating func match(
        _ node: inout TopicNode, _ seen: FleetNode, _ utc: Int64, _ outputs: inout [Output]
    ) {
        for channel in seen.channels.prefix(Limits.channelsPerRunMax) {
            var known =
                node.channels[channel.name]
                ?? TopicChannel(unit: channel.unit, scale: channel.scale)
            known.fleetUTC = channel.utc
            known.missingSince = nil
            node.channels[channel.name] = known
        }
        guard seen.isOnline, !seen.channels.isEmpty else { return }
        let present = Set(seen.channels.map(\.name))
        let absent = node.channels.keys.filter { !present.contains($0) }.sorted()
        for name in absent {
            guard let since = node.channels[name]?.missingSince else {
                node.channels[name]?.missingSince = utc
                continue
            }
            guard utc - since > 600_000_000_000 else { continue }
            node.channels[name] = nil
            clear(name, of: &node, &outputs)
        }
        expectRemembered(&node, present, utc)
    }

    /// What the broker still has of channels that went while nobody looked: as if they had been
    /// there until now, since a sensor may need its time.
    private mutating func expectRemembered(
        _ node: inout TopicNode, _ present: Set<String>, _ utc: Int64
    ) {
        let topics = remembered.removeValue(forKey: node.segment) ?? []
        let entities = rememberedEntities.removeValue(forKey: node.peer) ?? []
        for name in entities.union(topics.compactMap { TopicSegment.name($0) })
        where !present.contains(name) && node.channels[name] == nil {
            node.channels[name] = TopicChannel(unit: .none, scale: 0)
            node.channels[name]?.missingSince = utc
        }
    }

    private func clear(_ name: String, of node: inout TopicNode, _ outputs: inout [Output]) {
        outputs.append(.publish(.clearing(topic(of: name, node))))
        guard let device = device(node) else { return }
        let object = HomeAssistantDevice.object(ofChannel: name)
        node.configs[object] = nil
        outputs.append(.publish(.clearing(device.configTopic(object))))
    }

    private mutating func retireSilent(_ fleet: FleetSnapshot, _ outputs: inout [Output]) {
        let online = Set(fleet.nodes.filter(\.isOnline).map(\.peer))
        let limit = fleet.collector.utc / 1_000_000_000 - options.forget.components.seconds
        // One that only readings have named yet has not been seen by the fleet.
        let silent = nodes.values.filter {
            $0.seen > 0 && $0.seen < limit && !online.contains($0.peer)
        }
        for node in silent.sorted(by: { $0.peer < $1.peer }).prefix(20) { retire(node, &outputs) }
    }

    // MARK: Home Assistant

    func device(_ node: TopicNode) -> HomeAssistantDevice? {
        guard let prefix = options.homeAssistant else { return nil }
        return HomeAssistantDevice(
            common: HomeAssistantDevice.Common(
                prefix: prefix, collectorTopic: collectorTopic, version: version,
                isJSON: options.isJSON),
            peer: node.peer, name: node.name, model: node.model, version: node.version,
            labels: node.labels, topic: topic(of: node))
    }

    /// Tells Home Assistant what it does not know yet.
    private func announce(
        _ node: inout TopicNode, _ seen: FleetNode, _ outputs: inout [Output]
    ) {
        guard let device = device(node) else { return }
        for (name, channel) in node.channels.sorted(by: { $0.key < $1.key })
        where channel.missingSince == nil {
            let config = device.channelConfig(
                HomeAssistantDevice.SensorEntity(
                    name: name, unit: channel.unit, scale: channel.scale,
                    topic: topic(of: name, node), expireSeconds: channel.expiry.seconds))
            tell(config, as: HomeAssistantDevice.object(ofChannel: name), &node, &outputs)
        }
        // Not every node has a battery or a radio; where a channel says it, that is the entity.
        let said = node.channels.map { HomeAssistantClass($0.value.unit, channel: $0.key).device }
        for diagnostic in HomeAssistantDevice.diagnostics {
            switch diagnostic.member {
            case "battery": if seen.battery == nil || said.contains("battery") { continue }
            case "signal": if seen.signal == nil || said.contains("signal_strength") { continue }
            default: break
            }
            tell(device.config(diagnostic), as: "n-" + diagnostic.member, &node, &outputs)
        }
    }

    private func tell(
        _ config: MQTTMessage, as object: String, _ node: inout TopicNode,
        _ outputs: inout [Output]
    ) {
        let hash = config.payload.hashValue
        guard node.configs[object] != hash else { return }
        node.configs[object] = hash
        outputs.append(.publish(config))
    }
}
