/// The version of this wire protocol; a node speaks a range, N talks to N−1.
public enum WireVersion {
    public static let spoken: ClosedRange<UInt8> = 1...1

    /// The highest version that both ranges hold.
    public static func agreed(_ left: ClosedRange<UInt8>, _ right: ClosedRange<UInt8>) -> UInt8? {
        let highest = min(left.upperBound, right.upperBound)
        return highest >= max(left.lowerBound, right.lowerBound) ? highest : nil
    }
}
