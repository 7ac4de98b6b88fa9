import NearbyCore

/// Names one instance of a channel within a node.
public struct ChannelToken: Hashable, Comparable, Sendable {
    public let value: UInt32

    public init(value: UInt32) { self.value = value }

    public static func < (left: ChannelToken, right: ChannelToken) -> Bool {
        left.value < right.value
    }
}
