import NearbyCore
import Telemetry

/// Lines of text: a pattern picks numbers out of them, or each is a number, a JSON object of
/// numbers or an InfluxDB point.
///
/// Lines have no checksum. The first is passed over: it may have begun before we listened, and half
/// a number looks like one.
package struct LineParser: SerialParser {
    package enum Format: Sendable {
        /// What each group of a pattern has of a line, nil for a line that does not match; one
        /// channel a group. Lines that do not match are passed over, and not counted.
        case pattern(@Sendable (_ line: [UInt8]) -> [ArraySlice<UInt8>?]?, [ExpectedChannel])
        /// `name` is that of a lone number, and what the names of others begin with.
        case plain(name: String?, unit: String)
    }

    package let channels: [ExpectedChannel]
    private let format: Format
    private var splitter = LineSplitter()
    package private(set) var losses = SerialLosses()
    private var hasFirst = false
    private var hasUnderstood = false

    package init(_ format: Format) {
        self.format = format
        switch format {
        case .pattern(_, let channels): self.channels = channels
        case .plain(let name, let unit): channels = [ExpectedChannel(name ?? "serial", unit)]
        }
    }

    package var areChannelsCertain: Bool {
        if case .pattern = format { return true }
        return false
    }

    package mutating func feed(_ bytes: ArraySlice<UInt8>) -> [Measurement] {
        var bytes = bytes
        if !hasFirst {
            let isEnd = { (byte: UInt8) in byte == 0x0a || byte == 0x0d }
            guard let end = bytes.firstIndex(where: isEnd) else {
                losses.unparsedBytes = losses.unparsedBytes &+ bytes.count
                return []
            }
            hasFirst = true
            bytes = bytes[end...]
        }
        let lines = splitter.feed(bytes)
        losses.longLines = splitter.longLines
        return lines.flatMap { measurements($0) }
    }

    package mutating func restart() {
        splitter.restart()
        (hasFirst, hasUnderstood) = (false, false)
        losses.unparsedBytes = 0
    }

    private mutating func measurements(_ line: [UInt8]) -> [Measurement] {
        guard let measurements = understand(line) else {
            if hasUnderstood {
                losses.badLines &+= 1
            } else {
                losses.unparsedBytes = losses.unparsedBytes &+ line.count
            }
            return []
        }
        if !measurements.isEmpty {
            hasUnderstood = true
            losses.unparsedBytes = 0
        }
        return measurements
    }

    private func understand(_ line: [UInt8]) -> [Measurement]? {
        switch format {
        case .plain(let name, let unit):
            return CommandOutput.parse(line, channel: name ?? "serial", prefix: name, unit: unit)
        case .pattern(let groups, let channels):
            guard let groups = groups(line) else { return hasUnderstood ? [] : nil }
            return zip(channels, groups).compactMap { channel, group in
                group.map {
                    Measurement(
                        channel.name, channel.unit, number: String(decoding: $0, as: UTF8.self))
                }
            }
        }
    }
}
