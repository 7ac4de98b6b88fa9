import NearbyCore

/// Bytes a second over the last five seconds.
public struct RateMeter: Sendable {
    private var samples: [(at: Instant, bytes: Int64)] = []

    public init() {}

    /// So many bytes are there by now. What comes within 100 ms of the last is left out.
    public mutating func record(_ bytes: Int64, at now: Instant) {
        if let last = samples.last, bytes < last.bytes { samples = [] }
        if let last = samples.last, now - last.at < .milliseconds(100) { return }
        samples.append((now, bytes))
        let first = samples.firstIndex { now - $0.at <= Self.window } ?? samples.count - 1
        samples.removeFirst(first)
    }

    /// Nil before there is anything to go by.
    public var bytesPerSecond: Int64? {
        guard let first = samples.first, let last = samples.last else { return nil }
        let milliseconds = (last.at - first.at) / .milliseconds(1)
        guard milliseconds >= 200 else { return nil }
        return Int64(Double(last.bytes - first.bytes) * 1_000 / milliseconds)
    }

    private static let window = Duration.seconds(5)
}
