import NearbyCore
import Telemetry

/// What a command printed, taken apart.
enum CommandOutput {
    /// A number, a JSON object of numbers (nested ones joined by dots), or InfluxDB lines; nil
    /// where it is none of these.
    static func parse(_ output: String, channel: String, unit: String) -> [Measurement]? {
        let text = trimmed(output[...])
        guard let first = text.first else { return nil }
        if first == "{" {
            guard let parser = JSONNumbers(text) else { return nil }
            return parser.measurements(unit: unit)
        }
        if let value = try? DecimalValue(parsing: text) {
            return [Measurement(channel, unit, .value(value))]
        }
        var all: [Measurement] = []
        for line in text.split(separator: "\n") {
            let line = trimmed(line)
            if line.isEmpty || line.first == "#" { continue }
            guard let fields = influxFields(line) else { return nil }
            all += fields.map { Measurement($0.name, unit, .value($0.value)) }
        }
        return all.isEmpty || all.count > Limits.channelsPerSensorMax ? nil : all
    }

    /// `measurement[,tag=value…] field=value[,field=value…] [timestamp]`: the channel is
    /// measurement.field; strings and flags are passed over, integers lose their `i`.
    private static func influxFields(_ line: Substring) -> [(name: String, value: DecimalValue)]? {
        let parts = line.split(separator: " ")
        guard (2...3).contains(parts.count), let measurement = parts[0].split(separator: ",").first
        else { return nil }
        var fields: [(name: String, value: DecimalValue)] = []
        for field in parts[1].split(separator: ",") {
            let pair = field.split(separator: "=", maxSplits: 1)
            guard pair.count == 2 else { return nil }
            let isInteger = pair[1].last == "i" || pair[1].last == "u"
            let number = isInteger ? pair[1].dropLast() : pair[1]
            if let value = try? DecimalValue(parsing: number) {
                fields.append(("\(measurement).\(pair[0])", value))
            }
        }
        return fields
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text
        while let last = text.last, last.isWhitespace { text.removeLast() }
        while let first = text.first, first.isWhitespace { text.removeFirst() }
        return text
    }
}

/// Reads the numbers out of a JSON object (RFC 8259), at most eight deep; everything else in it is
/// checked for form and passed over.
struct JSONNumbers {
    private let bytes: [UInt8]
    private var index = 0
    private var found: [(name: String, text: String)] = []

    private struct Malformed: Error {}
    private static let depthMax = 8

    init?(_ text: Substring) {
        bytes = Array(text.utf8)
        do {
            try object(path: "", depth: 0)
            skipSpace()
            guard index == bytes.count else { return nil }
        } catch {
            return nil
        }
    }

    func measurements(unit: String) -> [Measurement]? {
        guard !found.isEmpty, found.count <= Limits.channelsPerSensorMax else { return nil }
        return found.map { Measurement($0.name, unit, number: $0.text) }
    }

    private mutating func object(path: String, depth: Int) throws {
        guard depth < Self.depthMax else { throw Malformed() }
        try expect("{")
        skipSpace()
        if take("}") { return }
        repeat {
            skipSpace()
            let key = try string()
            try expect(":")
            try value(path: path.isEmpty ? key : "\(path).\(key)", depth: depth + 1)
            skipSpace()
        } while take(",")
        try expect("}")
    }

    private mutating func value(path: String, depth: Int) throws {
        skipSpace()
        guard index < bytes.count else { throw Malformed() }
        switch bytes[index] {
        case UInt8(ascii: "{"): try object(path: path, depth: depth)
        case UInt8(ascii: "["): try array(path: path, depth: depth)
        case UInt8(ascii: "\""): _ = try string()
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            let start = index
            while index < bytes.count, Self.isNumeric(bytes[index]) { index += 1 }
            found.append((path, String(decoding: bytes[start..<index], as: UTF8.self)))
        default: try word()
        }
    }

    private mutating func array(path: String, depth: Int) throws {
        guard depth < Self.depthMax else { throw Malformed() }
        try expect("[")
        skipSpace()
        if take("]") { return }
        var number = 0
        repeat {
            try value(path: "\(path).\(number)", depth: depth + 1)
            number += 1
            skipSpace()
        } while take(",")
        try expect("]")
    }

    private mutating func string() throws -> String {
        try expect("\"")
        var result: [UInt8] = []
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: result, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard index < bytes.count else { throw Malformed() }
                // Escapes have no place in a channel's name: keep the letter.
                result.append(bytes[index])
                index += 1
            case ..<0x20: throw Malformed()
            default: result.append(byte)
            }
        }
        throw Malformed()
    }

    private mutating func word() throws {
        for word in ["true", "false", "null"] where bytes[index...].starts(with: word.utf8) {
            index += word.utf8.count
            return
        }
        throw Malformed()
    }

    private mutating func skipSpace() {
        while index < bytes.count, [0x20, 0x09, 0x0a, 0x0d].contains(bytes[index]) { index += 1 }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard index < bytes.count, bytes[index] == UInt8(ascii: character) else { return false }
        index += 1
        return true
    }

    private mutating func expect(_ character: Unicode.Scalar) throws {
        skipSpace()
        guard take(character) else { throw Malformed() }
    }

    private static func isNumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): true
        case UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."): true
        case UInt8(ascii: "e"), UInt8(ascii: "E"): true
        default: false
        }
    }
}
