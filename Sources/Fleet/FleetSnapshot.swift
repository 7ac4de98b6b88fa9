import NearbyCore
import Telemetry

/// How the network looks from a collector: what the page, `rivulet top`, /metrics and outputs that
/// speak of nodes show. Made about once a second by the logic thread, and never changed afterwards.
public struct FleetSnapshot: Hashable, Sendable {
    /// The collector itself.
    public var collector = FleetCollector()
    /// By name, then PeerID; the collector's agents and whoever else was seen.
    public var nodes: [FleetNode] = []
    /// Who reaches whom.
    public var links: [FleetLink] = []
    public var outputs: [OutputStatus] = []
    /// Conditions that hold now, and those that ended within the last day.
    public var alarms: [FleetAlarm] = []

    public init() {}

    /// The nodes that a count of them means: a viewer only looks in, for a while perhaps.
    public var countedNodes: [FleetNode] { nodes.filter { $0.role != "viewer" } }
}

public struct FleetCollector: Hashable, Sendable {
    public var peer = PeerID(high: 0, low: 0)
    public var name = ""
    public var network = ""
    public var version = ""
    /// When the snapshot was made, nanoseconds since 1970.
    public var utc: Int64 = 0
    public var uptime: Duration = .zero
    public var readingCount: UInt64 = 0
    public var uncommittedCount = 0
    /// Why the store takes nothing; nil: it works, or there is none.
    public var storeFault: String?
    /// Bytes of the store's files; nil without one.
    public var storeBytes: UInt64?
    /// Whatever was thrown away, by reason (`DropReason`'s names and the collector's own).
    public var drops: [FleetCount] = []

    public init() {}
}

public struct FleetCount: Hashable, Sendable {
    public var reason: String
    public var count: UInt64

    public init(reason: String, count: UInt64) {
        self.reason = reason
        self.count = count
    }
}

public struct FleetNode: Hashable, Sendable {
    public var peer: PeerID
    /// Foreign text; empty if unknown. In the collector's words where the configuration gives
    /// others.
    public var name: String
    /// As it calls itself, and as the store has it, where `name` is another.
    public var storedName: String?
    /// "agent", "relay", "collector", "viewer", "node" where that is unknown.
    public var role: String
    public var board = ""
    public var version = ""
    public var labels: [Label] = []
    public var isOnline = false
    /// Since it was last heard of; nil: never.
    public var age: Duration?
    /// The neighbour on the way; nil for neighbours.
    public var via: PeerID?
    public var hops: Int?
    /// "ethernet", "wifi", "bluetooth", empty if unknown.
    public var link = ""
    /// How well its link is received, dBm, and its battery, percent, where channels tell them.
    public var signal: Double?
    public var battery: Double?
    /// How its clock is known.
    public var clock = ""
    public var readingCount: UInt64 = 0
    /// Readings that went missing for good.
    public var lostCount: UInt64 = 0
    /// By name.
    public var channels: [FleetChannel] = []

    public init(peer: PeerID, name: String, role: String) {
        self.peer = peer
        self.name = name
        self.role = role
    }
}

public struct FleetChannel: Hashable, Sendable {
    /// Foreign text. In the collector's words where the configuration gives others.
    public var name: String
    /// As its agent calls it, and as the store has it, where `name` is another.
    public var storedName: String?
    public var unit: Unit
    public var scale: Int8
    public var last: Outcome
    /// When the newest reading was measured, nanoseconds since 1970.
    public var utc: Int64
    public var hops: UInt8

    public init(
        name: String, unit: Unit, scale: Int8, last: Outcome, utc: Int64, hops: UInt8
    ) {
        self.name = name
        self.unit = unit
        self.scale = scale
        self.last = last
        self.utc = utc
        self.hops = hops
    }
}

public struct FleetLink: Hashable, Sendable {
    public var from: PeerID
    public var to: PeerID
    /// As `FleetNode.link`.
    public var link: String
    /// 0 if unknown.
    public var cost: UInt32
    /// 0–100; nil if unknown.
    public var lossPercent: Double?
    /// Whether the two reach each other; otherwise others are between them, nobody knows who.
    public var isDirect = true

    public init(from: PeerID, to: PeerID, link: String, cost: UInt32, lossPercent: Double?) {
        self.from = from
        self.to = to
        self.link = link
        self.cost = cost
        self.lossPercent = lossPercent
    }
}

public struct FleetAlarm: Hashable, Sendable {
    public var peer = PeerID(high: 0, low: 0)
    /// Whether brokers are told.
    public var isPublished = false
    /// As configured.
    public var name: String
    public var node: String
    /// Empty where it is the node's silence.
    public var channel: String
    /// "above 30 °C for 5 min".
    public var condition: String
    public var isActive: Bool
    /// Nanoseconds since 1970.
    public var since: Int64
    public var until: Int64?

    public init(
        name: String, node: String, channel: String, condition: String, isActive: Bool,
        since: Int64, until: Int64?
    ) {
        self.name = name
        self.node = node
        self.channel = channel
        self.condition = condition
        self.isActive = isActive
        self.since = since
        self.until = until
    }
}

/// How an output fares.
public struct OutputStatus: Hashable, Sendable {
    public enum Phase: String, Sendable { case starting, current, behind, failing, stopped }

    public var name: String
    /// "postgres", "mqtt", …
    public var kind: String
    /// Where it goes, without secrets: "10.0.0.2:8883".
    public var target: String
    public var phase: Phase = .starting
    /// Readings that wait, as far as that is known.
    public var waitingCount: UInt64 = 0
    /// How old the oldest of them is, by its own time.
    public var lag: Duration = .zero
    public var deliveredCount: UInt64 = 0
    /// Readings that the other side would not take.
    public var refusedCount: UInt64 = 0
    /// Readings that retention deleted before they were delivered.
    public var lostCount: UInt64 = 0
    public var lastFault: String?
    public var failingSince: Duration?

    public init(name: String, kind: String, target: String) {
        self.name = name
        self.kind = kind
        self.target = target
    }
}
