import Collector
import NearbyCore
import Telemetry

/// The words of a fleet: how nodes and channels are named, and what their values become, on the way
/// out of a collector. The store keeps what agents sent.
///
/// Of all entries that match a node, the first that says something holds: one may name a site by a
/// pattern, and another rename a single board.
public struct FleetWords: Equatable, Sendable {
    private struct NamedAgent: Equatable {
        var peer: PeerID?
        var node: Glob
        var rename: String?
        var labels: [Label]
        var channels: [(pattern: Glob, words: ChannelWords)]

        static func == (left: NamedAgent, right: NamedAgent) -> Bool {
            left.node == right.node && left.rename == right.rename && left.labels == right.labels
                && left.channels.map(\.words) == right.channels.map(\.words)
        }
    }

    private let agents: [NamedAgent]

    /// Everything as agents say it.
    public static let none = FleetWords([])

    public init(_ agents: [AgentWords]) {
        self.agents = agents.map { agent in
            NamedAgent(
                peer: PeerID(text: agent.node), node: Glob(agent.node), rename: agent.rename,
                labels: agent.labels,
                channels: agent.channels.map { (Glob($0.channel), $0) })
        }
    }

    public var isEmpty: Bool { agents.isEmpty }

    /// What a node is called.
    ///
    /// - Parameter name: as it calls itself.
    public func name(of peer: PeerID, named name: String) -> String {
        matching(peer, name).lazy.compactMap(\.rename).first ?? name
    }

    /// A node's labels, ascending by key: ours in the place of those that it gave.
    public func labels(of peer: PeerID, named name: String, _ own: [Label]) -> [Label] {
        var labels: [String: String] = [:]
        for label in own { labels[label.key] = label.value }
        for agent in matching(peer, name).reversed() {
            for label in agent.labels { labels[label.key] = label.value }
        }
        return labels.map { Label(key: $0.key, value: $0.value) }.sorted { $0.key < $1.key }
    }

    /// What a channel is called, its unit, and what becomes of its values.
    ///
    /// - Parameters:
    ///   - node: as it calls itself.
    ///   - channel: as its agent calls it.
    public func channel(
        of peer: PeerID, named node: String, _ channel: String, _ unit: Unit, scale: Int8
    ) -> ShownChannel {
        let words = matching(peer, node).lazy.flatMap(\.channels)
            .filter { $0.pattern.matches(channel) }.map(\.words)
        guard !words.isEmpty else {
            return ShownChannel(name: channel, unit: unit, scale: scale)
        }
        let calibrated = words.first { $0.isCalibration }
        let map = ValueMap(
            scale: calibrated?.scale, offset: calibrated?.offset,
            from: words.compactMap(\.sentIn).first ?? unit, to: words.compactMap(\.unit).first)
        return ShownChannel(
            name: words.compactMap(\.rename).first ?? channel, map: map, scale: scale)
    }

    private func matching(_ peer: PeerID, _ name: String) -> [NamedAgent] {
        agents.filter { agent in
            agent.peer.map { $0 == peer } ?? agent.node.matches(name)
        }
    }
}

extension ChannelWords {
    fileprivate var isCalibration: Bool {
        scale != DecimalValue(coefficient: 1) || offset.coefficient != 0
    }
}

/// A channel in the words of a collector's owner.
public struct ShownChannel: Equatable, Sendable {
    public var name: String
    public var unit: Unit
    /// Digits after the point that its values usually have, as a power of ten.
    public var scale: Int8
    public var map: ValueMap

    /// As its agent says.
    public init(name: String, unit: Unit, scale: Int8) {
        self.name = name
        self.unit = unit
        self.scale = scale
        map = ValueMap()
    }

    init(name: String, map: ValueMap, scale: Int8) {
        self.name = name
        unit = map.unit
        self.map = map
        let step = map(DecimalValue(coefficient: 1, exponent: scale))
        self.scale = map.isIdentity ? scale : max(min(step?.exponent ?? scale, 0), -9)
    }
}
