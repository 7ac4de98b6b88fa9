import NearbyCore
import Telemetry

/// Writes JSON (RFC 8259) as bytes, without a tree before it: snapshots of a thousand nodes are
/// made once a second.
public struct JSONText: Sendable {
    public private(set) var bytes: [UInt8] = []
    /// Whether the next member or element stands behind another.
    private var needsComma = false

    public init() {}

    public var text: String { String(decoding: bytes, as: UTF8.self) }

    // MARK: Structure

    public mutating func object(_ members: (inout JSONText) -> Void) {
        enclosed(UInt8(ascii: "{"), UInt8(ascii: "}"), members)
    }

    public mutating func array(_ elements: (inout JSONText) -> Void) {
        enclosed(UInt8(ascii: "["), UInt8(ascii: "]"), elements)
    }

    public mutating func array<Element>(
        _ elements: some Sequence<Element>, _ each: (inout JSONText, Element) -> Void
    ) {
        array { json in for element in elements { each(&json, element) } }
    }

    /// The name of the member whose value comes next.
    public mutating func key(_ name: String) {
        string(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    private mutating func enclosed(
        _ open: UInt8, _ close: UInt8, _ inside: (inout JSONText) -> Void
    ) {
        separate()
        bytes.append(open)
        needsComma = false
        inside(&self)
        bytes.append(close)
        needsComma = true
    }

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    // MARK: Values

    public mutating func string(_ text: String) {
        separate()
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(byte)
            case 0..<0x20, 0x7f:
                bytes += Array("\\u00".utf8)
                bytes.append(Self.digits[Int(byte >> 4)])
                bytes.append(Self.digits[Int(byte & 15)])
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    public mutating func integer(_ value: some BinaryInteger) { literal(String(value)) }

    public mutating func flag(_ value: Bool) { literal(value ? "true" : "false") }

    public mutating func null() { literal("null") }

    /// Null for what JSON has no number for.
    public mutating func number(_ value: Double) {
        value.isFinite ? literal("\(value)") : null()
    }

    /// Exactly as it was measured: `21.50`.
    public mutating func decimal(_ value: DecimalValue) { literal(value.description) }

    private mutating func literal(_ text: String) {
        separate()
        bytes += text.utf8
    }

    private static let digits = Array("0123456789abcdef".utf8)

    // MARK: Members

    public mutating func add(_ name: String, _ value: String?) {
        key(name)
        if let value { string(value) } else { null() }
    }

    public mutating func add(_ name: String, _ value: (some BinaryInteger)?) {
        key(name)
        if let value { integer(value) } else { null() }
    }

    public mutating func add(_ name: String, number value: Double?) {
        key(name)
        if let value { number(value) } else { null() }
    }

    public mutating func add(_ name: String, flag value: Bool) {
        key(name)
        flag(value)
    }
}
