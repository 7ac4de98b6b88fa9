/// Every bound that is ours to choose; each room adds its own in an extension beside its main type.
public enum Limits {
    /// The largest datagram on any link, bytes.
    public static let datagramBytesMax = 1_200
    /// The largest unreliable message, bytes.
    public static let messageBytesMax = 1_000
    /// The display name, bytes of UTF-8.
    public static let displayNameBytes = 1...63
    /// Seconds since 1970 that a clock set right can show: the years 2024 to 2037. Boards without a
    /// date start in 1970 or 2000; what a damaged clock shows beyond is as wrong.
    public static let plausibleUnixSeconds: Range<Int64> = 1_704_067_200..<2_145_916_800
}
