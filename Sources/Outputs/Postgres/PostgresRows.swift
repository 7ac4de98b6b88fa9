import Fleet
import NearbyCore
import Telemetry

/// Rows in the text format of `COPY`: columns end with tabs, rows with line feeds, `\N` is null.
public struct PostgresRows: Sendable {
    public private(set) var bytes: [UInt8] = []
    public private(set) var count = 0
    private var isInRow = false

    public init() {}

    private mutating func separate() {
        if isInRow { bytes.append(UInt8(ascii: "\t")) }
        isInRow = true
    }

    private mutating func endRow() {
        bytes.append(UInt8(ascii: "\n"))
        isInRow = false
        count += 1
    }

    private mutating func add(plain text: String?) {
        separate()
        bytes += (text ?? "\\N").utf8
    }

    /// Foreign text. PostgreSQL has no character zero.
    private mutating func add(text: String) {
        separate()
        for byte in text.utf8 {
            switch byte {
            case 0: bytes += "\u{fffd}".utf8
            case UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case UInt8(ascii: "\t"): bytes += "\\t".utf8
            case UInt8(ascii: "\n"): bytes += "\\n".utf8
            case UInt8(ascii: "\r"): bytes += "\\r".utf8
            default: bytes.append(byte)
            }
        }
    }

    // MARK: Series

    /// `number, peer, run, node, board, labels, channel, unit, scale`.
    /// - Parameter number: by which its answer is known.
    public mutating func add(_ series: OutputSeries, number: Int) {
        add(plain: String(number))
        add(plain: series.node.peer.description)
        add(plain: series.node.run.description)
        add(text: series.node.name)
        add(text: series.node.board)
        add(text: Self.json(series.node.labels))
        add(text: series.channel)
        add(text: series.unit.name)
        add(plain: String(series.scale))
        endRow()
    }

    /// Of two labels with one key the last counts.
    private static func json(_ labels: [Label]) -> String {
        var json = JSONText()
        json.object { json in
            for label in labels { json.add(storable(label.key), storable(label.value)) }
        }
        return json.text
    }

    private static func storable(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { $0 == "\0" ? "\u{fffd}" : $0 }))
    }

    // MARK: Readings

    /// `run, sequence, time, channel, milliseconds, value, reason, hops`.
    /// - Parameters:
    ///   - run: its number in the database, like `channel`.
    ///   - sequence: one that PostgreSQL's integers can hold.
    public mutating func add(_ reading: OutputReading, run: Int, channel: Int, sequence: Int64) {
        add(plain: String(run))
        add(plain: String(sequence))
        add(plain: Self.time(reading.utc))
        add(plain: String(channel))
        add(plain: String(reading.milliseconds))
        switch reading.outcome {
        // `2150e-2` is read as 21.50: exactly, with the places that the sensor gave.
        case .value(let value):
            add(plain: "\(value.coefficient)e\(value.exponent)")
            add(plain: nil)
        case .null(let reason):
            add(plain: nil)
            add(plain: reason.description)
        }
        add(plain: String(reading.hops))
        endRow()
    }

    /// `2026-11-23 08:15:30.123456+00`: microseconds are what PostgreSQL keeps. Each time in 64
    /// bits of nanoseconds (1677–2262) is one of its.
    static func time(_ utc: Int64) -> String {
        let time = CivilTime(utc)
        return "\(time.date) \(time.clock).\((time.nanosecond / 1_000).padded(to: 6))+00"
    }
}
