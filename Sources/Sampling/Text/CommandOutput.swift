import NearbyCore
import Telemetry

/// What a command printed, taken apart.
package enum CommandOutput {
    /// A number, a JSON object of numbers (nested ones joined by dots), or InfluxDB lines; nil
    /// where it is none of these. A lone number is `channel`; all others begin with `prefix` and a
    /// dot, if there is one.
    package static func parse(
        _ output: [UInt8], channel: String, prefix: String?, unit: String
    ) -> [Measurement]? {
        let bytes = trimmed(Array(String(decoding: output, as: UTF8.self).utf8)[...])
        if let value = try? DecimalValue(parsing: String(decoding: bytes, as: UTF8.self)) {
            return [Measurement(channel, unit, .value(value))]
        }
        guard let found = named(bytes), !found.isEmpty, found.count <= Limits.channelsPerSensorMax
        else { return nil }
        return found.map { name, outcome in
            Measurement(prefix.map { "\($0).\(name)" } ?? name, unit, outcome)
        }
    }

    /// Whether it printed more numbers than a sensor may have channels.
    package static func isTooMuch(_ output: [UInt8]) -> Bool {
        let bytes = trimmed(Array(String(decoding: output, as: UTF8.self).utf8)[...])
        return named(bytes)?.count ?? 0 > Limits.channelsPerSensorMax
    }

    private static func named(
        _ bytes: ArraySlice<UInt8>
    ) -> [(name: String, outcome: Outcome)]? {
        bytes.first == UInt8(ascii: "{") ? JSONNumbers(bytes)?.found : influx(bytes)
    }

    /// Lines of which each is empty, a comment, or a point; nil if any is none of these.
    private static func influx(_ bytes: ArraySlice<UInt8>) -> [(name: String, outcome: Outcome)]? {
        var found: [(name: String, outcome: Outcome)] = []
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            let line = trimmed(line)
            if line.isEmpty || line.first == UInt8(ascii: "#") { continue }
            guard let fields = InfluxPoint.fields(line) else { return nil }
            found += fields.map { ($0.name, .value($0.value)) }
            if found.count > Limits.channelsPerSensorMax { break }
        }
        return found
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        let isSpace = { (byte: UInt8) in byte == 0x20 || (0x09...0x0d).contains(byte) }
        var rest = bytes.drop(while: isSpace)
        while let last = rest.last, isSpace(last) { rest.removeLast() }
        return rest
    }
}

/// One line of InfluxDB's line protocol:
///
///     measurement[,tag=value…] field=value[,field=value…] [timestamp]
enum InfluxPoint {
    /// The numeric fields, each named `measurement[.tag value…].field`; strings and flags are
    /// passed over. Nil if the line is none. The timestamp is checked and not used: the reading
    /// has the time at which the command was run.
    static func fields(_ line: ArraySlice<UInt8>) -> [(name: String, value: DecimalValue)]? {
        let parts = split(line, at: UInt8(ascii: " ")).filter { !$0.isEmpty }
        guard (2...3).contains(parts.count) else { return nil }
        if parts.count == 3, Int64(String(decoding: parts[2], as: UTF8.self)) == nil { return nil }
        let key = split(parts[0], at: UInt8(ascii: ","))
        guard let measurement = key.first, !measurement.isEmpty else { return nil }
        var path = [text(measurement)]
        for tag in key.dropFirst() {
            guard let (_, value) = pair(tag) else { return nil }
            path.append(text(value))
        }
        var fields: [(name: String, value: DecimalValue)] = []
        for field in split(parts[1], at: UInt8(ascii: ",")) {
            guard let (name, value) = pair(field) else { return nil }
            if let number = number(value) {
                fields.append(((path + [text(name)]).joined(separator: "."), number))
            } else if !isStringOrFlag(value) {
                return nil
            }
        }
        return fields
    }

    private static func number(_ value: ArraySlice<UInt8>) -> DecimalValue? {
        let isInteger = value.last == UInt8(ascii: "i") || value.last == UInt8(ascii: "u")
        let digits = isInteger ? value.dropLast() : value
        return try? DecimalValue(parsing: String(decoding: digits, as: UTF8.self))
    }

    private static func isStringOrFlag(_ value: ArraySlice<UInt8>) -> Bool {
        let quote = UInt8(ascii: "\"")
        if value.count >= 2, value.first == quote, value.last == quote { return true }
        let word = String(decoding: value, as: UTF8.self).lowercased()
        return ["t", "f", "true", "false"].contains(word)
    }

    /// Both sides of the first `=`; nil if one is empty.
    private static func pair(
        _ bytes: ArraySlice<UInt8>
    ) -> (name: ArraySlice<UInt8>, value: ArraySlice<UInt8>)? {
        let name = split(bytes, at: UInt8(ascii: "="))[0]
        let value = bytes[name.endIndex...].dropFirst()
        return name.isEmpty || value.isEmpty ? nil : (name, value)
    }

    /// Splits where the separator is neither escaped nor within quotation marks.
    private static func split(
        _ bytes: ArraySlice<UInt8>, at separator: UInt8
    ) -> [ArraySlice<UInt8>] {
        var parts: [ArraySlice<UInt8>] = []
        var start = bytes.startIndex
        var isEscaped = false
        var isQuoted = false
        for index in bytes.indices {
            let byte = bytes[index]
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isQuoted.toggle()
            } else if byte == separator, !isQuoted {
                parts.append(bytes[start..<index])
                start = index + 1
            }
        }
        return parts + [bytes[start...]]
    }

    /// Without the backslashes before commas, equals signs, spaces and themselves.
    private static func text(_ bytes: ArraySlice<UInt8>) -> String {
        var result: [UInt8] = []
        var isEscaped = false
        for byte in bytes {
            if !isEscaped, byte == UInt8(ascii: "\\") {
                isEscaped = true
                continue
            }
            if isEscaped, ![0x2c, 0x3d, 0x20, 0x5c].contains(byte) { result.append(0x5c) }
            isEscaped = false
            result.append(byte)
        }
        return String(decoding: result, as: UTF8.self)
    }
}
