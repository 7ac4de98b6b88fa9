import NearbyCore

/// Which sequence numbers of one run have come or need not come any more: accepts each once.
struct SequenceLedger: Sendable {
    enum Verdict: Sendable { case fresh, duplicate, refused }

    /// Those that came, those below the lowest that the agent still holds, and announced gaps.
    private(set) var settled = NumberRanges()
    private var lowest: UInt64 = .max
    private var highest: UInt64 = 0
    private var received: UInt64 = 0

    /// How many numbers lie between the lowest and the highest that came, both included.
    var expected: UInt64 { received == 0 ? 0 : highest &- lowest &+ 1 }

    /// How many of these have not come, or not yet.
    var missing: UInt64 { expected > received ? expected - received : 0 }

    /// - Parameter isBounded: at `Limits.sequenceRangesMax` ranges a number that would begin
    ///   another is refused: it will be sent again. Otherwise the lowest hole is closed for it.
    mutating func accept(_ sequence: UInt64, refusingAtLimit isBounded: Bool) -> Verdict {
        guard sequence < .max, !settled.contains(sequence) else { return .duplicate }
        while !settled.insert(sequence..<sequence + 1, limit: Limits.sequenceRangesMax) {
            if isBounded { return .refused }
            guard settled.ranges.count > 1 else { return .refused }
            settled.insert(settled.ranges[0].lowerBound..<settled.ranges[1].upperBound)
            if settled.contains(sequence) { return .duplicate }
        }
        received &+= 1
        lowest = min(lowest, sequence)
        highest = max(highest, sequence)
        return .fresh
    }

    /// The agent holds nothing below: it is settled elsewhere, or lost and announced. Returns what
    /// of it never came here.
    mutating func raiseFloor(to lowestHeld: UInt64) -> [Range<UInt64>] {
        let missing = lowestHeld > 1 ? settled.missing(in: 1..<lowestHeld) : []
        settled.insert(0..<lowestHeld)
        return missing
    }

    /// In the store from before, or lost with the end of the run: these need not come.
    mutating func settleLost(_ range: Range<UInt64>) { settled.insert(range) }

    /// Lost, as the agent says. False if that would leave too many holes: it will say so again.
    mutating func announceLost(_ range: Range<UInt64>) -> Bool {
        settled.insert(range, limit: Limits.sequenceRangesMax)
    }
}

extension Limits {
    /// Ranges of sequence numbers that a collector keeps for one run.
    static let sequenceRangesMax = 1_024
}
