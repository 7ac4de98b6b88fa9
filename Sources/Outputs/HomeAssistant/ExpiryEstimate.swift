/// After how long without news a channel's state no longer holds, from how often it has come:
/// agents do not say it.
struct ExpiryEstimate: Hashable, Sendable {
    private var last: Int64?
    private var intervals: [Int64] = []
    /// Seconds; nil until enough has come.
    private(set) var seconds: Int?

    private static let steps = [
        60, 120, 300, 600, 1_800, 3_600, 7_200, 21_600, 43_200, 86_400, 604_800,
    ]

    /// - Parameter utc: when a reading was measured, nanoseconds.
    mutating func record(_ utc: Int64) {
        defer { last = utc }
        guard let last, utc > last else { return }
        intervals.append((utc - last) / 1_000_000)
        guard intervals.count >= 8 else { return }
        let longest = intervals.max() ?? 0
        intervals.removeFirst(intervals.count - 7)
        // Ten of the longest intervals: a channel that is left out while it hardly changes must
        // not seem dead.
        let wanted = Int(clamping: longest / 100)
        let step = Self.steps.first { $0 >= wanted } ?? 604_800
        // It grows at once; smaller it becomes only by far, so that Home Assistant is not told
        // something else all the time.
        if let seconds, step < seconds, step * 10 > seconds { return }
        seconds = step
    }
}
