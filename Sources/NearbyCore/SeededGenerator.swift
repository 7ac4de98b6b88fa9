/// SplitMix64 (Steele, Lea, Flood 2014): small, seeded, the same everywhere. For jitter, choice and
/// the simulator; never for keys.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    public init(seed: UInt64) { state = seed }

    public mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        return mixed ^ mixed >> 31
    }

    /// Uniform in the range, to the nanosecond. An empty range gives its lower bound.
    public mutating func duration(in range: Range<Duration>) -> Duration {
        let low = range.lowerBound.nanoseconds
        let high = range.upperBound.nanoseconds
        return low < high
            ? .nanoseconds(Int64.random(in: low..<high, using: &self)) : range.lowerBound
    }
}
