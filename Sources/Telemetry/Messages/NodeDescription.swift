import NearbyCore

extension Limits {
    static let labelsMax = 16
    /// A label's key, bytes of UTF-8.
    static let labelKeyBytes = 1...63
    /// A label's value, bytes of UTF-8.
    static let labelValueBytesMax = 255
    /// What a board calls itself, bytes of UTF-8.
    static let boardBytesMax = 128
}

/// A pair that the owner gave a node: `site: north`.
public struct Label: Hashable, Sendable {
    public let key: String
    public let value: String

    public init(key: String, value: String) {
        self.key = key
        self.value = value
    }
}

/// What a node says about itself in its birth.
public struct NodeDescription: Equatable, Sendable {
    /// 1–63 bytes of UTF-8; identifies nothing. No word here has an ASCII control character.
    public let name: String
    /// In ascending order of their keys, no key twice, at most `Limits.labelsMax`.
    public let labels: [Label]
    /// The model, as the device tree names it; empty if unknown.
    public let board: String

    /// Sorts the labels. Throws `.invalid` or `.tooLong` for what a birth cannot carry.
    public init(name: String, labels: [Label] = [], board: String = "") throws(WireError) {
        guard Limits.displayNameBytes.contains(name.utf8.count), !name.hasControlCharacter else {
            throw .invalid(field: "name")
        }
        guard labels.count <= Limits.labelsMax else {
            throw .tooLong(limit: Limits.labelsMax, actual: labels.count)
        }
        for label in labels {
            guard Limits.labelKeyBytes.contains(label.key.utf8.count),
                label.value.utf8.count <= Limits.labelValueBytesMax,
                !label.key.hasControlCharacter, !label.value.hasControlCharacter
            else { throw .invalid(field: "label") }
        }
        guard board.utf8.count <= Limits.boardBytesMax, !board.hasControlCharacter else {
            throw .invalid(field: "board")
        }
        let sorted = labels.sorted { $0.key < $1.key }
        for (one, next) in zip(sorted, sorted.dropFirst()) where one.key == next.key {
            throw .invalid(field: "label")
        }
        self.name = name
        self.labels = sorted
        self.board = board
    }

    // Wire form: name counted · label count varint · (key, value counted)… · board counted

    init(parsing reader: inout ByteReader) throws(WireError) {
        let name = try reader.readString(limit: Limits.displayNameBytes.upperBound, field: "name")
        let count = try reader.readVarint()
        guard count <= UInt64(Limits.labelsMax) else {
            throw .tooLong(limit: Limits.labelsMax, actual: Int(clamping: count))
        }
        var labels: [Label] = []
        for _ in 0..<Int(count) {
            let key = try reader.readString(limit: Limits.labelKeyBytes.upperBound, field: "label")
            let value = try reader.readString(limit: Limits.labelValueBytesMax, field: "label")
            labels.append(Label(key: key, value: value))
        }
        let board = try reader.readString(limit: Limits.boardBytesMax, field: "board")
        try self.init(name: name, labels: labels, board: board)
    }

    func emit(into writer: inout ByteWriter) {
        writer.writeString(name)
        writer.writeVarint(UInt64(labels.count))
        for label in labels {
            writer.writeString(label.key)
            writer.writeString(label.value)
        }
        writer.writeString(board)
    }
}

/// The kernel's random boot id: runs of one boot share a clock.
public struct BootID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// Bytes 0–7 and 8–15, big-endian.
    public let high: UInt64
    public let low: UInt64

    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Reads 32 hexadecimal digits; hyphens and a final newline are ignored, as in
    /// `/proc/sys/kernel/random/boot_id`.
    public init?(text: String) {
        var digits: [UInt8] = []
        for byte in text.utf8 where byte != UInt8(ascii: "-") && byte != UInt8(ascii: "\n") {
            guard digits.count < 32, let digit = Character(Unicode.Scalar(byte)).hexDigitValue
            else {
                return nil
            }
            digits.append(UInt8(digit))
        }
        guard digits.count == 32 else { return nil }
        high = digits[..<16].reduce(0) { $0 << 4 | UInt64($1) }
        low = digits[16...].reduce(0) { $0 << 4 | UInt64($1) }
    }

    /// As for a PeerID, but of both halves in turn: an agent may claim as many boots as it likes,
    /// and need not prove them.
    public func _rawHashValue(seed: Int) -> Int {
        high._rawHashValue(seed: low._rawHashValue(seed: seed))
    }

    public static func < (left: BootID, right: BootID) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }

    /// 32 lower-case hexadecimal digits.
    public var description: String {
        RunID(value: high).description + RunID(value: low).description
    }
}
