import Fleet
import NearbyCore
import Telemetry

extension Limits {
    /// Nodes that one broker is told of.
    static let topicNodesMax = 20_000
    /// Topics whose retained messages are remembered from the broker.
    static let rememberedTopicsMax = 100_000
    /// For so long after a start a node need not be heard to count as there.
    static let brokerPatience: Duration = .seconds(60)
}

/// What a broker is told in topics of our own, and Home Assistant about them: pure.
///
///     <prefix>/<network>/$collector/<peer>        online | offline (last will)
///     <prefix>/<network>/<node>/$availability     online | offline
///     <prefix>/<network>/<node>/$node             what is known of the node, JSON
///     <prefix>/<network>/<node>/<channel>         each reading
///     <prefix>/<network>/$alarms/<alarm>/<node>[/<channel>]
///
/// Names never hold a `$` once they are escaped. The broker is the memory: which node has which
/// level is read from it at each connection, so topics stay what they are.
public struct TopicPublisher: Sendable {
    public struct Options: Sendable {
        public var prefix = "rivulet"
        public var network = ""
        public var collector = PeerID(high: 0, low: 0)
        public var isJSON = true
        public var isRetained = true
        public var wantsLate = false
        public var forget: Duration = .seconds(30 * 86_400)
        /// The discovery prefix; nil: Home Assistant is told nothing.
        public var homeAssistant: String?

        public init() {}
    }

    public enum Output: Hashable, Sendable {
        case publish(MQTTMessage)
        /// Whatever is retained under these filters goes.
        case purge([String])
    }

    let options: Options
    /// `<prefix>/<network>`.
    public let root: String
    let collectorTopic: String
    /// What its operator should know; taken by whoever logs it.
    public var remarks: [String] = []

    /// Readings of nodes and channels that there was no room for; taken by whoever counts them.
    public var leftOutCount = 0

    var nodes: [PeerID: TopicNode] = [:]
    /// Alarms as the broker has them, by topic.
    var alarms: [String: [UInt8]] = [:]
    /// The collector's version, of the newest snapshot.
    var version = ""
    private var book = SegmentBook()
    /// Channels' levels that the broker had at the last connection, by node's level.
    var remembered: [String: Set<String>] = [:]
    /// Channels of which Home Assistant had been told by this collector, by node.
    var rememberedEntities: [PeerID: Set<String>] = [:]
    private var rememberedCount = 0

    public init(_ options: Options) {
        self.options = options
        root = options.prefix + "/" + TopicSegment.escaped(options.network)
        collectorTopic = root + "/$collector/" + options.collector.description
    }

    // MARK: Connections

    /// Where to look for what the broker remembers.
    /// Nodes come first: they say which levels are whose.
    public var memoryFilters: [String] {
        let own = [root + "/+/$node", root + "/+/+", root + "/$alarms/#"]
        return own + (options.homeAssistant.map { [$0 + "/sensor/+/+/config"] } ?? [])
    }

    /// Whether a message on this topic may matter: Home Assistant may have thousands of sensors
    /// that are not ours.
    public var isWanted: @Sendable (String) -> Bool {
        guard let prefix = options.homeAssistant.map({ $0 + "/sensor/" }) else {
            return { _ in true }
        }
        return { topic in
            guard topic.utf8.starts(with: prefix.utf8) else { return true }
            let node = topic.utf8.dropFirst(prefix.utf8.count).prefix { $0 != UInt8(ascii: "/") }
            return HomeAssistantDevice.peer(ofIdentifier: String(Substring(node))) != nil
        }
    }

    public func availability(_ isOnline: Bool) -> MQTTMessage {
        MQTTMessage(collectorTopic, Self.word(isOnline), isRetained: true)
    }

    static func word(_ isOnline: Bool) -> [UInt8] { Array((isOnline ? "online" : "offline").utf8) }

    /// A new connection: nothing is known of what the broker has.
    public mutating func connect() {
        for peer in nodes.keys {
            nodes[peer]?.isOnline = nil
            nodes[peer]?.described = []
            nodes[peer]?.configs = [:]
        }
        alarms = [:]
        remembered = [:]
        rememberedEntities = [:]
        rememberedCount = 0
    }

    /// Home Assistant has started: everything is told again.
    public mutating func announceAgain() {
        for peer in nodes.keys { nodes[peer]?.configs = [:] }
    }

    /// A retained message of the broker's.
    public mutating func remember(_ topic: String, _ payload: [UInt8]) {
        // By bytes and scalars: to Swift a slash with a mark behind it is another character.
        guard !payload.isEmpty, rememberedCount < rememberedMax else { return }
        if rememberEntity(topic, payload) { return }
        guard topic.utf8.starts(with: (root + "/").utf8) else { return }
        if topic.utf8.starts(with: (root + "/$alarms/").utf8) {
            rememberedCount += 1
            return rememberAlarm(topic, payload)
        }
        let levels = topic.unicodeScalars.dropFirst(root.unicodeScalars.count + 1).split(
            separator: "/", omittingEmptySubsequences: false
        ).map { String($0) }
        guard levels.count == 2, !levels[0].hasPrefix("$") else { return }
        let segment = levels[0]
        rememberedCount += 1
        if levels[1] == "$node" {
            guard let known = RememberedNode(parsing: payload) else { return }
            book.remember(known.peer, segment)
            if let seen = nodes[known.peer]?.seen {
                nodes[known.peer]?.seen = max(seen, known.seen)
                return
            }
            var node = TopicNode(peer: known.peer)
            node.segment = segment
            node.seen = known.seen
            nodes[known.peer] = node
        } else if !levels[1].hasPrefix("$") {
            remembered[segment, default: []].insert(levels[1])
        }
    }

    /// Remembers a channel's entity that this collector announced to Home Assistant; false for
    /// anything else.
    private mutating func rememberEntity(_ topic: String, _ payload: [UInt8]) -> Bool {
        guard let prefix = options.homeAssistant.map({ $0 + "/sensor/" }),
            topic.utf8.starts(with: prefix.utf8)
        else { return false }
        let levels = topic.unicodeScalars.dropFirst(prefix.unicodeScalars.count).split(
            separator: "/", omittingEmptySubsequences: false
        ).map { String($0) }
        guard levels.count == 3, levels[2] == "config",
            let peer = HomeAssistantDevice.peer(ofIdentifier: levels[0]),
            let channel = HomeAssistantDevice.channel(ofObject: levels[1]),
            HomeAssistantDevice.isOurs(payload, collectorTopic: collectorTopic)
        else { return false }
        rememberedCount += 1
        rememberedEntities[peer, default: []].insert(channel)
        return true
    }

    private var rememberedMax: Int { Limits.rememberedTopicsMax }

    // MARK: Nodes

    /// The node as it is called now; nil if there are too many. Outputs clear what it was before.
    mutating func node(
        _ peer: PeerID, named name: String, _ outputs: inout [Output]
    ) -> TopicNode? {
        var node = nodes[peer] ?? TopicNode(peer: peer)
        if nodes[peer] == nil, nodes.count >= Limits.topicNodesMax { return nil }
        switch book.segment(of: peer, named: name) {
        case .same(let segment): node.segment = segment
        case .new(let segment, let former, let rival):
            node.segment = segment
            node.isOnline = nil
            node.described = []
            node.configs = [:]
            if let former { outputs.append(.purge([root + "/" + former + "/#"])) }
            if let rival {
                remarks.append(
                    "two nodes are called \(TopicSegment.escaped(name)): \(rival) has the topics "
                        + "\(root)/\(TopicSegment.escaped(name))/…, \(peer) has "
                        + "\(root)/\(segment)/…; give one of them another name")
            }
        }
        node.name = name
        return node
    }

    /// Takes a node away that has been silent for longer than it is remembered.
    mutating func retire(_ node: TopicNode, _ outputs: inout [Output]) {
        var filters = [root + "/" + node.segment + "/#"]
        if let prefix = options.homeAssistant {
            let identifier = HomeAssistantDevice.identifier(of: node.peer)
            filters.append("\(prefix)/sensor/\(identifier)/+/config")
        }
        outputs.append(.purge(filters))
        book.forget(node.peer)
        nodes[node.peer] = nil
        remembered[node.segment] = nil
        rememberedEntities[node.peer] = nil
    }

    func topic(of node: TopicNode) -> String { root + "/" + node.segment }

    func topic(of channel: String, _ node: TopicNode) -> String {
        topic(of: node) + "/" + TopicSegment.escaped(channel)
    }
}
