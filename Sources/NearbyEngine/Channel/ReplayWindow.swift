import NearbyCore

/// Which counters of one priority were seen: a sliding bitmap after RFC 6479, 1,024 wide.
struct ReplayWindow: Sendable {
    /// 17 words: 16 in the window and one being filled.
    private var words = [UInt64](repeating: 0, count: wordCount)
    private var highest: UInt64 = 0

    private static let wordCount = 17
    /// How far behind the highest counter a frame may come, at least.
    static let width: UInt64 = 1_024

    init() {}

    /// Whether the counter is neither seen nor too old. Ask before opening, record after.
    func isFresh(_ counter: UInt64) -> Bool {
        if counter > highest { return true }
        if highest - counter >= Self.width { return false }
        return words[Int(counter / 64 % UInt64(Self.wordCount))] & 1 << (counter % 64) == 0
    }

    /// Marks an authentic frame's counter as seen.
    mutating func record(_ counter: UInt64) {
        if counter > highest {
            let current = highest / 64
            let steps = min(counter / 64 - current, UInt64(Self.wordCount))
            for step in 0..<steps {
                words[Int((current + step + 1) % UInt64(Self.wordCount))] = 0
            }
            highest = counter
        }
        words[Int(counter / 64 % UInt64(Self.wordCount))] |= 1 << (counter % 64)
    }
}
