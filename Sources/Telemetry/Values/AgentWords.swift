/// What a collector says of an agent that nobody wants to touch, in place of the agent's own words.
/// Written in the collector's configuration; the store keeps what agents sent.
public struct AgentWords: Equatable, Sendable {
    /// A node's name, a pattern for names, or a PeerID.
    public var node: String
    /// What it is called instead.
    public var rename: String?
    /// Beside the agent's own, or in the place of those with the same key; ascending by key.
    public var labels: [Label] = []
    /// In the order of their names.
    public var channels: [ChannelWords] = []

    public init(node: String) { self.node = node }
}

/// What a collector says of a channel.
public struct ChannelWords: Equatable, Sendable {
    /// The agent's name of it, or a pattern.
    public var channel: String
    public var rename: String?
    /// What its values are in, where the agent says none or a wrong one.
    public var sentIn: Unit?
    /// What they are changed into; where no unit is known, what they are in.
    public var unit: Unit?
    /// Its values are multiplied by this,
    public var scale = DecimalValue(coefficient: 1)
    /// then this is added, in the unit in which they are sent.
    public var offset = DecimalValue(coefficient: 0)

    public init(channel: String) { self.channel = channel }
}
