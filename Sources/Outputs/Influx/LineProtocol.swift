import NearbyCore
import Telemetry

/// Readings as InfluxDB's line protocol.
///
///     measurement,tag=value,… field=value,… timestamp
///
/// Tags: node, channel, unit, peer, run, and the node's labels as `label_…`. Fields: value, always
/// a float, or reason; sequence; hops. InfluxDB knows a point by measurement, tags and time: times
/// are whole microseconds, and the last three digits tell readings of one microsecond apart.
public struct LineProtocol: Sendable {
    private let measurement: String

    public init(measurement: String) { self.measurement = Self.escaped(measurement, equals: false) }

    /// Measurement and tags of a series: what all its lines begin with.
    public func head(_ series: OutputSeries) -> String {
        var tags = [
            ("channel", series.channel), ("node", series.node.name),
            ("peer", series.node.peer.description), ("run", series.node.run.description),
            ("unit", series.unit.name),
        ]
        for label in series.node.labels { tags.append(("label_" + label.key, label.value)) }
        var text = measurement
        // A line with one key twice would be refused.
        var keys: Set<String> = []
        for (key, value) in tags where !value.isEmpty {
            let key = Self.escaped(key)
            guard keys.insert(key).inserted else { continue }
            text += "," + key + "=" + Self.escaped(value)
        }
        return text
    }

    /// A line with its end.
    public func line(_ reading: OutputReading, head: String) -> String {
        let fields =
            switch reading.outcome {
            case .value(let value): "value=\(value)"
            case .null(let reason): "reason=\(Self.quoted(reason.description))"
            }
        return "\(head) \(fields),sequence=\(Int64(clamping: reading.sequence))i,"
            + "hops=\(reading.hops)i \(Self.timestamp(reading))\n"
    }

    /// The lines of some readings, in their order.
    public func body(
        _ readings: some Sequence<OutputReading>, series: [OutputSeries]
    ) -> [UInt8] {
        var heads: [Int: String] = [:]
        var body: [UInt8] = []
        for reading in readings where series.indices.contains(reading.series) {
            let head = heads[reading.series] ?? head(series[reading.series])
            heads[reading.series] = head
            body += line(reading, head: head).utf8
        }
        return body
    }

    // MARK: Times

    /// What InfluxDB takes, nanoseconds since 1970, less room for the digits below.
    private static let times: ClosedRange<Int64> = (.min + 10_000)...(.max - 10_000)

    /// Nanoseconds since 1970: the reading's, to the microsecond, and three digits of its sequence
    /// number.
    static func timestamp(_ reading: OutputReading) -> Int64 {
        microsecond(reading.utc) + Int64(reading.sequence % 1_000)
    }

    /// Every timestamp that readings of these times can have.
    static func timestamps(_ utc: ClosedRange<Int64>) -> ClosedRange<Int64> {
        microsecond(utc.lowerBound)...(microsecond(utc.upperBound) + 999)
    }

    private static func microsecond(_ utc: Int64) -> Int64 {
        let utc = min(max(utc, times.lowerBound), times.upperBound)
        let rest = utc % 1_000
        return utc - (rest < 0 ? rest + 1_000 : rest)
    }

    // MARK: Escapes

    /// A measurement, the key of a tag, or its value: comma, space and, but in measurements, `=`
    /// follow a backslash. A backslash itself cannot be escaped, and may stand anywhere but at the
    /// end, where it would escape what follows: there it becomes the full-width one. Controls, a
    /// line's end among them, become U+FFFD.
    static func escaped(_ foreign: String, equals: Bool = true) -> String {
        var text = ""
        for scalar in foreign.unicodeScalars {
            switch scalar {
            case ",", " ": text += "\\"
            case "=" where equals: text += "\\"
            default: break
            }
            text.unicodeScalars.append(scalar.isControl ? "\u{fffd}" : scalar)
        }
        if text.unicodeScalars.last == "\\" {
            text.unicodeScalars.removeLast()
            text += "＼"
        }
        return text
    }

    /// The value of a field that is a string.
    static func quoted(_ foreign: String) -> String {
        var text = "\""
        for scalar in foreign.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { text += "\\" }
            text.unicodeScalars.append(scalar.isControl ? "\u{fffd}" : scalar)
        }
        return text + "\""
    }
}
