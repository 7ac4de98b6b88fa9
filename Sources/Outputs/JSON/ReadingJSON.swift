import Fleet
import NearbyCore
import Telemetry

/// A reading as a JSON object, with the members that `rivulet query --format json` has (see
/// deploy/readings-json.md), except for `clock`.
enum ReadingJSON {
    static func text(_ reading: OutputReading, of series: OutputSeries) -> [UInt8] {
        var json = JSONText()
        json.object { members(&$0, reading, of: series) }
        return json.bytes
    }

    static func members(
        _ json: inout JSONText, _ reading: OutputReading, of series: OutputSeries
    ) {
        json.add("time", time(reading.utc))
        json.add("peer", series.node.peer.description)
        json.add("run", series.node.run.description)
        json.add("node", series.node.name)
        json.key("labels")
        json.object { json in
            for label in series.node.labels { json.add(label.key, label.value) }
        }
        json.add("channel", series.channel)
        json.add("unit", series.unit.name)
        json.key("sequence")
        if reading.sequence < exactIntegers {
            json.integer(reading.sequence)
        } else {
            json.string(String(reading.sequence))
        }
        outcome(&json, reading.outcome)
        json.add("hops", reading.hops)
    }

    /// What most parsers would round is text.
    private static func outcome(_ json: inout JSONText, _ outcome: Outcome) {
        json.key("value")
        switch outcome {
        case .value(let value) where value.coefficient.magnitude < exactIntegers:
            json.decimal(value)
            json.add("reason", String?.none)
        case .value(let value):
            json.string(value.description)
            json.add("reason", String?.none)
        case .null(let reason):
            json.null()
            json.add("reason", reason.description)
        }
    }

    private static let exactIntegers: UInt64 = 1 << 53

    /// RFC 3339 in UTC; milliseconds unless they are zero.
    static func time(_ utc: Int64) -> String {
        let time = CivilTime(utc)
        return "\(time.date)T\(time.clock)\(time.milliseconds)Z"
    }
}
