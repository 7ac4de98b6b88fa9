/// What is published: to a topic, with a payload.
public struct MQTTMessage: Hashable, Sendable {
    public var topic: String
    public var payload: [UInt8]
    public var isRetained: Bool
    /// Whether the broker acknowledges it (QoS 1).
    public var isAcknowledged: Bool
    /// How many readings are lost if the broker will not take it.
    public var readingCount: Int

    public init(
        _ topic: String, _ payload: [UInt8], isRetained: Bool, isAcknowledged: Bool = true,
        readingCount: Int = 0
    ) {
        self.topic = topic
        self.payload = payload
        self.isRetained = isRetained
        self.isAcknowledged = isAcknowledged
        self.readingCount = readingCount
    }

    /// Has the broker forget a retained message.
    public static func clearing(_ topic: String) -> MQTTMessage {
        MQTTMessage(topic, [], isRetained: true)
    }
}
