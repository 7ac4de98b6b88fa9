import NearbyCore

extension Limits {
    /// How far below the highest sequence number of a run duplicates are still told apart.
    public static let sequenceWindowSize = 8_192
}

/// Which sequence numbers of one run have come: accepts each once. Bounded: a bit for each of the
/// highest `Limits.sequenceWindowSize` numbers.
struct SequenceWindow: Sendable {
    enum Verdict: Sendable { case fresh, duplicate, tooOld }

    private var words = [UInt64](repeating: 0, count: Limits.sequenceWindowSize / 64)
    private var lowest: UInt64 = .max
    private(set) var highest: UInt64?
    private(set) var received: UInt64 = 0

    /// How many numbers lie between the lowest and the highest that came, both included.
    var expected: UInt64 { highest.map { $0 &- lowest &+ 1 } ?? 0 }

    /// How many of these have not come.
    var missing: UInt64 { expected > received ? expected - received : 0 }

    mutating func accept(_ sequence: UInt64) -> Verdict {
        guard let highest else {
            self.highest = sequence
            lowest = sequence
            return take(sequence)
        }
        if sequence > highest {
            forget(after: highest, through: sequence)
            self.highest = sequence
            return take(sequence)
        }
        guard highest - sequence < UInt64(Limits.sequenceWindowSize) else { return .tooOld }
        let (word, bit) = position(of: sequence)
        if words[word] & bit != 0 { return .duplicate }
        lowest = min(lowest, sequence)
        return take(sequence)
    }

    private mutating func take(_ sequence: UInt64) -> Verdict {
        let (word, bit) = position(of: sequence)
        words[word] |= bit
        received &+= 1
        return .fresh
    }

    private mutating func forget(after old: UInt64, through new: UInt64) {
        guard new - old < UInt64(Limits.sequenceWindowSize) else {
            for index in words.indices { words[index] = 0 }
            return
        }
        var sequence = old
        while sequence < new {
            sequence += 1
            let (word, bit) = position(of: sequence)
            words[word] &= ~bit
        }
    }

    private func position(of sequence: UInt64) -> (word: Int, bit: UInt64) {
        let index = Int(sequence % UInt64(Limits.sequenceWindowSize))
        return (index / 64, 1 << UInt64(index % 64))
    }
}
