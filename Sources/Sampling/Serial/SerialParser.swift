import NearbyCore
import Telemetry

/// Takes apart what comes over a serial line, however it was cut and whatever is between. It keeps
/// at most one frame or line that has not ended.
package protocol SerialParser: Sendable {
    /// What becomes null while nothing comes, in the order in which it is told.
    var channels: [ExpectedChannel] { get }
    /// Whether `channels` are those that will come; otherwise they stand in until the first does.
    var areChannelsCertain: Bool { get }
    /// Written to the device once a period; nil for a device that speaks by itself.
    var request: [UInt8]? { get }
    /// What could not be used since the start.
    var losses: SerialLosses { get }
    /// What time it is: told before the bytes that came by then.
    mutating func advance(to now: Instant)
    /// What the bytes complete. A value is never told twice.
    mutating func feed(_ bytes: ArraySlice<UInt8>) -> [Measurement]
    /// Forgets what has begun and not ended: the line was opened anew.
    mutating func restart()
}

extension SerialParser {
    package var areChannelsCertain: Bool { true }
    package var request: [UInt8]? { nil }
    package mutating func advance(to now: Instant) {}
}

/// How much of what came could not be used, and why.
package struct SerialLosses: Equatable, Sendable {
    /// Frames or sentences that were whole but for their checksum.
    var badChecksums = 0
    /// Bytes outside of frames, after the first good one.
    var strayBytes = 0
    /// Lines that are not what was said of them.
    var badLines = 0
    /// Lines, or frames, longer than they may be.
    var longLines = 0
    /// Bytes that came since the line was opened, while none of them made sense; 0 afterwards.
    package var unparsedBytes = 0

    /// For people; nil if nothing was lost.
    package init() {}

    package var text: String? {
        let parts = [
            (badChecksums, "with a wrong checksum"), (strayBytes, "stray bytes"),
            (badLines, "lines not understood"), (longLines, "lines too long"),
        ]
        let told = parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        return told.isEmpty ? nil : told.joined(separator: ", ")
    }

    /// Why nothing came out, if that is not for silence.
    package func reason(since earlier: SerialLosses) -> NullReason? {
        if badChecksums > earlier.badChecksums { return .checksum }
        let isNoise =
            strayBytes > earlier.strayBytes || badLines > earlier.badLines
            || longLines > earlier.longLines || unparsedBytes > earlier.unparsedBytes
        return isNoise ? .malformed : nil
    }
}

extension Limits {
    /// The longest line of a serial device, bytes without its end. NMEA 0183 has 82.
    static let serialLineBytesMax = 1_024
    /// Bytes that one call takes from a serial line; the rest waits for the next.
    package static let serialReadBytesMax = 4_096
}
