import NearbyCore
import Telemetry

/// NMEA 0183 sentences of a receiver for satellites: where it is, and how well it knows.
///
/// Source: NMEA 0183 as in u-blox, "u-blox 8 / M8 Receiver description" §31; gpsd, "NMEA Revealed".
///
///     $GPGGA,123519,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,*47
///
/// The two letters after `$` say which satellites (GP, GL, GA, GB or BD, GQ, GI, GN for several)
/// and matter only where they are counted; the number after `*` is the exclusive or of all bytes
/// between both. GGA gives the position, RMC the speed in knots with the digits that it has, GSA
/// whether it is flat or in space (`fix.mode`: 1 none, 2, 3), GSV how many satellites are seen. RMC
/// gives the position too where no GGA comes. Without a fix the position is null: warming up until
/// the first, absent after one.
package struct PositionParser: SerialParser {
    package let channels = [
        ExpectedChannel("lat", "lat"), ExpectedChannel("lon", "lon"),
        ExpectedChannel("altitude", "m"),
        ExpectedChannel("speed", Self.knot), ExpectedChannel("satellites", "1"),
        ExpectedChannel("hdop", "1"), ExpectedChannel("fix", "1"),
    ]
    package private(set) var losses = SerialLosses()
    private var splitter = LineSplitter()
    private var hasSentence = false
    private var hasFix = false
    private var hasGGA = false
    /// How many satellites each talker sees, by the talker's letters.
    private var seen: [(talker: String, count: Int64)] = []

    package init() {}

    private static let talkersMax = 8
    /// UCUM's international knot, 1852/3600 m/s; SenML has none.
    private static let knot = "[kn_i]"

    package mutating func feed(_ bytes: ArraySlice<UInt8>) -> [Measurement] {
        let measurements = splitter.feed(bytes).flatMap { sentence($0) }
        losses.longLines = splitter.longLines
        return measurements
    }

    package mutating func restart() {
        splitter.restart()
        (hasSentence, hasFix, hasGGA, seen) = (false, false, false, [])
        losses.unparsedBytes = 0
    }

    private mutating func sentence(_ line: [UInt8]) -> [Measurement] {
        // What was cut off by noise may have a whole sentence behind it.
        guard let start = line.lastIndex(of: UInt8(ascii: "$")) else { return reject(line) }
        let body = line[(start + 1)...]
        guard let star = body.lastIndex(of: UInt8(ascii: "*")),
            let sum = Self.hexadecimal(body[(star + 1)...])
        else { return reject(line) }
        guard body[..<star].reduce(0, ^) == sum else {
            losses.badChecksums &+= 1
            return []
        }
        if hasSentence { losses.strayBytes = losses.strayBytes &+ start }
        hasSentence = true
        losses.unparsedBytes = 0
        let fields = body[..<star].split(
            separator: UInt8(ascii: ","), omittingEmptySubsequences: false
        )
        .map { String(decoding: $0, as: UTF8.self) }
        guard let head = fields.first, head.utf8.count == 5 else { return [] }
        switch head.suffix(3) {
        case "GGA": return position(SentenceFields(fields))
        case "RMC": return motion(SentenceFields(fields))
        case "GSA": return mode(SentenceFields(fields))
        case "GSV": return view(SentenceFields(fields), talker: String(head.prefix(2)))
        default: return []
        }
    }

    /// Of exactly two digits.
    private static func hexadecimal(_ digits: ArraySlice<UInt8>) -> UInt8? {
        let text = String(decoding: digits, as: UTF8.self)
        guard digits.count == 2, text.allSatisfy(\.isHexDigit) else { return nil }
        return Int(text, radix: 16).flatMap { UInt8(exactly: $0) }
    }

    private mutating func reject(_ line: [UInt8]) -> [Measurement] {
        // The first line has begun before we listened.
        if hasSentence {
            losses.badLines &+= 1
        } else {
            losses.unparsedBytes = losses.unparsedBytes &+ line.count
        }
        return []
    }

    /// Time, latitude, N or S, longitude, E or W, quality, satellites, HDOP, altitude, M.
    private mutating func position(_ fields: SentenceFields) -> [Measurement] {
        hasGGA = true
        let quality = fields.number(6)
        let isFixed = quality.map { $0.coefficient != 0 } ?? false
        if isFixed { hasFix = true }
        let missing = hasFix ? NullReason.absent : .warmingUp
        func outcome(_ value: DecimalValue?) -> Outcome {
            isFixed ? value.map(Outcome.value) ?? .null(.malformed) : .null(missing)
        }
        return [
            Measurement("lat", "lat", outcome(fields.latitude(2))),
            Measurement("lon", "lon", outcome(fields.longitude(4))),
            Measurement(
                "altitude", "m", fields.isEmpty(9) ? .null(missing) : outcome(fields.number(9))),
            Measurement(
                "satellites", "1", fields.number(7).map(Outcome.value) ?? .null(.malformed)),
            Measurement("hdop", "1", outcome(fields.number(8))),
            Measurement("fix", "1", quality.map(Outcome.value) ?? .null(.malformed)),
        ]
    }

    /// Time, A or V, latitude, N or S, longitude, E or W, speed in knots.
    private mutating func motion(_ fields: SentenceFields) -> [Measurement] {
        let isFixed = fields.text(2) == "A"
        if isFixed { hasFix = true }
        let missing = hasFix ? NullReason.absent : .warmingUp
        func outcome(_ value: DecimalValue?) -> Outcome {
            isFixed ? value.map(Outcome.value) ?? .null(.malformed) : .null(missing)
        }
        let isStill = isFixed && fields.isEmpty(7)
        let speed = Measurement(
            "speed", Self.knot, isStill ? .null(.absent) : outcome(fields.magnitude(7)))
        if hasGGA { return [speed] }
        return [
            Measurement("lat", "lat", outcome(fields.latitude(3))),
            Measurement("lon", "lon", outcome(fields.longitude(5))), speed,
        ]
    }

    /// M or A, then 1, 2 or 3.
    private func mode(_ fields: SentenceFields) -> [Measurement] {
        guard let mode = fields.number(2) else { return [] }
        return [Measurement("fix.mode", "1", .value(mode))]
    }

    /// How many sentences, which of them, satellites in view; told with the last of the sentences.
    private mutating func view(_ fields: SentenceFields, talker: String) -> [Measurement] {
        guard let count = fields.number(3), count.exponent == 0,
            (0...999).contains(count.coefficient), fields.text(1) == fields.text(2)
        else { return [] }
        if let index = seen.firstIndex(where: { $0.talker == talker }) {
            seen[index].count = count.coefficient
        } else if seen.count < Self.talkersMax {
            seen.append((talker, count.coefficient))
        }
        return [Measurement("satellites.seen", "1", seen.reduce(0) { $0 + $1.count })]
    }
}
