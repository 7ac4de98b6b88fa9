import NearbyCore

/// Which channels are silent: for much longer than the longest pause between two of their readings.
///
/// What is not known of a channel yet is assumed generously, because one that is read once a minute
/// is no cause for alarm in a window of ten seconds.
struct SilenceWatch: Sendable {
    private struct Key: Hashable, Sendable {
        var peer: PeerID
        var run: RunID
        var channel: UInt16
    }

    private struct Pause: Sendable {
        /// Nil with fewer than two readings.
        var longest: Duration?
        /// The greatest age since the last reading.
        var current: Duration = .zero
    }

    /// Of the rows of the last window alone, so bounded as that is.
    private var pauses: [Key: Pause] = [:]

    /// Takes in a closed window.
    mutating func add(_ window: Window) {
        var next: [Key: Pause] = [:]
        next.reserveCapacity(window.rows.count)
        for row in window.rows {
            let key = Key(peer: row.peer, run: row.run, channel: row.channel.number)
            var pause = pauses[key] ?? Pause()
            let count = row.statistics.count + row.statistics.nullCount
            if count > 0 {
                var seen = pause.current
                if count > 1 { seen = max(seen, window.width / count) }
                if seen > .zero { pause.longest = max(pause.longest ?? .zero, seen) }
                pause.current = .zero
            }
            pause.current = max(pause.current, row.age)
            next[key] = pause
        }
        pauses = next
    }

    func isSilent(_ row: Window.Row, in window: Window) -> Bool {
        guard row.statistics.count + row.statistics.nullCount == 0 else { return false }
        let key = Key(peer: row.peer, run: row.run, channel: row.channel.number)
        guard let longest = pauses[key]?.longest else { return row.age > Self.assumedPause }
        return row.age > max(window.width * 2, longest * 3)
    }

    private static let assumedPause = Duration.seconds(300)
}
