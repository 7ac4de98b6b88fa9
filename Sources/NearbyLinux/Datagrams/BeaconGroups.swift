import NearbyCore

/// Where beacons go. The same on every node of every network: the network tag tells them apart.
///
/// The port lies below Linux's ephemeral range (32768–60999), so that no outgoing socket takes it
/// by chance.
public enum BeaconGroups {
    /// UDP port of beacons; data sockets have their own.
    public static let port: UInt16 = 24_577

    /// ff12::7276:6c74 ("rvlt"): link scope, not permanently assigned (RFC 4291 §2.7: flag T).
    public static let ipv6 = TransportAddress.ipv6(
        high: 0xff12_0000_0000_0000, low: 0x7276_6c74, port: port)

    /// 239.255.114.118: the IPv4 local scope (RFC 2365 §6.1). Sent with a time to live of 1.
    public static let ipv4 = TransportAddress.ipv4(address: 0xefff_7276, port: port)

    /// 255.255.255.255: where multicast brings nothing.
    public static let broadcast = TransportAddress.ipv4(address: .max, port: port)
}
