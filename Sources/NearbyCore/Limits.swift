/// Every bound that is ours to choose; each room adds its own in an extension beside its main type.
public enum Limits {
    /// The largest datagram on any link, bytes.
    public static let datagramBytesMax = 1_200
    /// The largest handshake datagram on any path, bytes, our envelope included.
    public static let handshakeBytesMax = 1_100
    /// The largest unreliable message, bytes.
    public static let messageBytesMax = 1_000
    /// The display name, bytes of UTF-8.
    public static let displayNameBytes = 1...63
}
