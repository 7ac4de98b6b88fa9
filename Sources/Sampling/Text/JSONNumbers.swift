import NearbyCore
import Telemetry

/// Reads the numbers out of a JSON object (RFC 8259), at most eight deep. Strings and flags are
/// checked for form and passed over; null is a null.
struct JSONNumbers {
    /// In their order; the keys of nested objects and the places in arrays joined by dots.
    private(set) var found: [(name: String, outcome: Outcome)] = []
    private let bytes: [UInt8]
    private var index = 0

    private struct Malformed: Error {}
    private static let depthMax = 8

    init?(_ text: ArraySlice<UInt8>) {
        bytes = Array(text)
        do {
            try object(path: "", depth: 0)
            skipSpace()
            guard index == bytes.count else { return nil }
        } catch {
            return nil
        }
    }

    private mutating func object(path: String, depth: Int) throws(Malformed) {
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

    private mutating func array(path: String, depth: Int) throws(Malformed) {
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

    private mutating func value(path: String, depth: Int) throws(Malformed) {
        skipSpace()
        guard index < bytes.count else { throw Malformed() }
        switch bytes[index] {
        case UInt8(ascii: "{"): try object(path: path, depth: depth)
        case UInt8(ascii: "["): try array(path: path, depth: depth)
        case UInt8(ascii: "\""): _ = try string()
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try number(path)
        default:
            if take(word: "null") { return add(path, .null(.absent)) }
            guard take(word: "true") || take(word: "false") else { throw Malformed() }
        }
    }

    /// What looks like a number and is none, as 1.2.3, spoils the whole.
    private mutating func number(_ path: String) throws(Malformed) {
        let start = index
        while index < bytes.count, Self.isNumeric(bytes[index]) { index += 1 }
        let text = String(decoding: bytes[start..<index], as: UTF8.self)
        guard let value = try? DecimalValue(parsing: text) else { throw Malformed() }
        add(path, .value(value))
    }

    /// Keeps one more than the limit, so that the caller sees that there are too many.
    private mutating func add(_ path: String, _ outcome: Outcome) {
        if found.count <= Limits.channelsPerSensorMax { found.append((path, outcome)) }
    }

    // MARK: Strings

    private mutating func string() throws(Malformed) -> String {
        try expect("\"")
        var result: [UInt8] = []
        while index < bytes.count {
            let byte = bytes[index]
            index += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: result, as: UTF8.self)
            case UInt8(ascii: "\\"): result += Array(String(try escape()).utf8)
            case ..<0x20: throw Malformed()
            default: result.append(byte)
            }
        }
        throw Malformed()
    }

    /// What follows a backslash.
    private mutating func escape() throws(Malformed) -> Unicode.Scalar {
        guard index < bytes.count else { throw Malformed() }
        let byte = bytes[index]
        index += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"):
            return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{c}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try codePoint()
        default: throw Malformed()
        }
    }

    /// Four digits, or a pair of surrogates; a lone surrogate stands for no character.
    private mutating func codePoint() throws(Malformed) -> Unicode.Scalar {
        let high = try hexadecimal()
        guard (0xd800..<0xdc00).contains(high), take("\\"), take("u") else {
            return Unicode.Scalar(high) ?? "\u{fffd}"
        }
        let low = try hexadecimal()
        guard (0xdc00..<0xe000).contains(low) else { throw Malformed() }
        return Unicode.Scalar(0x10000 + (high - 0xd800) << 10 + (low - 0xdc00)) ?? "\u{fffd}"
    }

    private mutating func hexadecimal() throws(Malformed) -> UInt32 {
        guard bytes.count - index >= 4 else { throw Malformed() }
        var value: UInt32 = 0
        for byte in bytes[index..<index + 4] {
            guard let digit = Self.hexadecimalDigit(byte) else { throw Malformed() }
            value = value << 4 | digit
        }
        index += 4
        return value
    }

    private static func hexadecimalDigit(_ byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte - UInt8(ascii: "a")) + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte - UInt8(ascii: "A")) + 10
        default: nil
        }
    }

    // MARK: Characters

    private mutating func skipSpace() {
        while index < bytes.count, [0x20, 0x09, 0x0a, 0x0d].contains(bytes[index]) { index += 1 }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard index < bytes.count, bytes[index] == UInt8(ascii: character) else { return false }
        index += 1
        return true
    }

    private mutating func take(word: String) -> Bool {
        guard bytes[index...].starts(with: word.utf8) else { return false }
        index += word.utf8.count
        return true
    }

    private mutating func expect(_ character: Unicode.Scalar) throws(Malformed) {
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
