import Collector
import NearbyCore
import Telemetry

extension Limits {
    /// Agents that a snapshot shows with their channels; that which was silent longest goes.
    public static let fleetAgentsMax = 1_024
    /// Channels of all agents together; further ones are not shown, and counted.
    static let fleetChannelsMax = 65_536
}

/// What a collector has heard of its agents, as its owner wants to see it: of each channel the
/// newest reading. Makes the nodes of a `FleetSnapshot`.
///
/// Nothing is made before somebody looks: a report costs a few words for each of its readings.
public struct FleetLedger: Sendable {
    private var words: FleetWords
    private var agents: [PeerID: FleetAgent] = [:]
    private var channelCount = 0
    public private(set) var readingCount: UInt64 = 0
    /// Channels for which there was no room.
    public private(set) var hiddenChannelCount: UInt64 = 0

    public init(words: FleetWords = .none) { self.words = words }

    /// An agent has told of its channels.
    ///
    /// - Returns: what is wrong with the words for it, a line each, for the log; only what is new.
    public mutating func apply(_ birth: Birth, of peer: PeerID, now: Instant) -> [String] {
        guard agents[peer]?.takesOver(birth) ?? true else { return [] }
        makeRoom(for: peer, channelCount: birth.channels.count)
        var agent = agents[peer] ?? FleetAgent(birth, of: peer, words)
        agent.heard(now)
        return adopt(birth, agent, of: peer)
    }

    /// What the store knows from before: of those that were heard since, nothing is new. They make
    /// room for whoever comes.
    ///
    /// - Returns: as `apply` of a birth.
    public mutating func recall(_ nodes: [RecalledNode]) -> [String] {
        var faults: [String] = []
        for node in nodes where agents[node.peer] == nil {
            guard agents.count < Limits.fleetAgentsMax,
                channelCount + node.birth.channels.count <= Limits.fleetChannelsMax
            else { continue }
            faults += adopt(node.birth, FleetAgent(node.birth, of: node.peer, words), of: node.peer)
            agents[node.peer]?.recall(node)
        }
        return faults
    }

    private mutating func adopt(
        _ birth: Birth, _ known: FleetAgent, of peer: PeerID
    ) -> [String] {
        var agent = known
        channelCount -= agent.channels.count
        agent.adopt(birth, of: peer, words, limit: Limits.fleetChannelsMax - channelCount)
        hiddenChannelCount += UInt64(clamping: birth.channels.count - agent.channels.count)
        channelCount += agent.channels.count
        let known = agents[peer]?.faults ?? []
        agents[peer] = agent
        return agent.faults.filter { !known.contains($0) }
    }

    /// - Parameter unixOffset: added to our clock gives UTC.
    public mutating func apply(_ delivery: Delivery, unixOffset: Duration) {
        readingCount &+= UInt64(delivery.readings.count)
        // Looked up once: this is done for each report.
        if let place = agents.index(forKey: delivery.peer),
            !agents.values[place].needs(delivery)
        {
            return agents.values[place].apply(delivery, unixOffset: unixOffset)
        }
        _ = apply(delivery.birth, of: delivery.peer, now: delivery.arrival)
        agents[delivery.peer]?.apply(delivery, unixOffset: unixOffset)
    }

    /// The configuration was read again.
    ///
    /// - Returns: as `apply` of a birth, of all agents.
    public mutating func change(words: FleetWords) -> [String] {
        self.words = words
        var faults: [String] = []
        for peer in agents.keys.sorted() {
            agents[peer]?.rename(peer, words)
            faults += agents[peer]?.faults ?? []
        }
        return faults
    }

    /// A snapshot without links, outputs and alarms, and without viewers that are out of reach.
    ///
    /// - Parameter sightings: whoever the node knows, each once.
    public func snapshot(
        of collector: FleetCollector, _ sightings: [FleetSighting], now: Instant
    ) -> FleetSnapshot {
        var snapshot = FleetSnapshot()
        snapshot.collector = collector
        snapshot.collector.readingCount = readingCount
        var unseen = Set(agents.keys)
        for sighting in sightings where sighting.peer != collector.peer {
            unseen.remove(sighting.peer)
            // Who looked in is another node the next time, and would be one of ever more.
            let isGone = sighting.role == "viewer" && !sighting.isOnline
            if isGone, agents[sighting.peer] == nil { continue }
            snapshot.nodes.append(node(sighting, now, utc: collector.utc))
        }
        for peer in unseen.sorted() {
            snapshot.nodes.append(
                node(FleetSighting(peer: peer, role: "agent"), now, utc: collector.utc))
        }
        snapshot.nodes.sort {
            $0.name == $1.name
                ? $0.peer < $1.peer : NaturalOrder.isBefore($0.name, $1.name)
        }
        return snapshot
    }

    /// Those of which nothing came since the start, the last heard first.
    ///
    /// - Parameter utc: now, nanoseconds since 1970.
    public func recalledNodes(utc: Int64, _ now: Instant) -> [FleetNode] {
        agents.filter(\.value.isRecalled)
            .map { node(FleetSighting(peer: $0.key, role: "agent"), now, utc: utc) }
            .sorted { ($0.age ?? .zero, $0.peer) < ($1.age ?? .zero, $1.peer) }
    }

    private func node(
        _ sighting: FleetSighting, _ now: Instant, utc: Int64
    ) -> FleetNode {
        var node = FleetNode(peer: sighting.peer, name: sighting.name, role: sighting.role)
        node.version = sighting.version
        node.isOnline = sighting.isOnline
        node.age = sighting.isOnline ? .zero : sighting.age
        node.via = sighting.via
        node.hops = sighting.hops
        node.link = sighting.link
        if let agent = agents[sighting.peer] {
            agent.describe(&node, now: now, utc: utc)
        } else {
            node.name = words.name(of: sighting.peer, named: sighting.name)
            if node.name != sighting.name { node.storedName = sighting.name }
        }
        return node
    }

    private mutating func makeRoom(for peer: PeerID, channelCount wanted: Int) {
        if agents[peer] == nil, agents.count >= Limits.fleetAgentsMax { removeOldest { _ in true } }
        let needed = wanted - (agents[peer]?.channels.count ?? 0)
        while channelCount + needed > Limits.fleetChannelsMax {
            guard removeOldest({ $0.key != peer && $0.value.isRecalled }) else { return }
        }
    }

    /// Those that were heard before this start are the oldest.
    @discardableResult
    private mutating func removeOldest(
        _ isMeant: ((key: PeerID, value: FleetAgent)) -> Bool
    ) -> Bool {
        let oldest = agents.filter(isMeant)
            .min {
                ($0.value.order.0, $0.value.order.1, $0.key)
                    < ($1.value.order.0, $1.value.order.1, $1.key)
            }
        guard let oldest else { return false }
        channelCount -= oldest.value.channels.count
        agents[oldest.key] = nil
        return true
    }
}

/// What a node of the network knows of another.
public struct FleetSighting: Hashable, Sendable {
    public var peer: PeerID
    /// As it calls itself; empty if unknown.
    public var name = ""
    public var role: String
    public var version = ""
    public var isOnline = false
    /// Since it was last in reach.
    public var age: Duration?
    /// The neighbour on the way; nil for neighbours.
    public var via: PeerID?
    public var hops: Int?
    /// "ethernet", "wifi", "bluetooth", empty if unknown.
    public var link = ""

    public init(peer: PeerID, role: String, age: Duration? = nil) {
        self.peer = peer
        self.role = role
        self.age = age
    }
}
