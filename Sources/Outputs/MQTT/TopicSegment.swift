import NearbyCore

/// Names as one level of an MQTT topic.
enum TopicSegment {
    /// What has a meaning in topics (`/ + # $`), cannot be in one (control characters,
    /// noncharacters; MQTT 5.0 §1.5.4), or is the escape itself becomes `%` and two hexadecimal
    /// digits for each byte of UTF-8: no two names become one. The empty name becomes `%`.
    static func escaped(_ name: String) -> String {
        if name.isEmpty { return "%" }
        var result = ""
        for scalar in name.unicodeScalars {
            if isPlain(scalar) {
                result.unicodeScalars.append(scalar)
            } else {
                for byte in String(scalar).utf8 { result += "%" + hexadecimal(byte) }
            }
        }
        return result
    }

    /// What `escaped` made the level of; nil for what it cannot have made.
    static func name(_ segment: String) -> String? {
        if segment == "%" { return "" }
        guard let bytes = unescaped(segment, by: UInt8(ascii: "%")) else { return nil }
        let name = String(decoding: bytes, as: UTF8.self)
        return escaped(name) == segment ? name : nil
    }

    /// Letters, digits and hyphens as they are, any other byte as `_` and two hexadecimal digits:
    /// what Home Assistant takes for an identifier.
    static func identifier(_ name: String) -> String {
        var result = ""
        for byte in name.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"):
                result.unicodeScalars.append(Unicode.Scalar(byte))
            default: result += "_" + hexadecimal(byte)
            }
        }
        return result
    }

    /// What `identifier` made it of; nil for what it cannot have made.
    static func name(ofIdentifier identifier: String) -> String? {
        guard let bytes = unescaped(identifier, by: UInt8(ascii: "_")) else { return nil }
        let name = String(decoding: bytes, as: UTF8.self)
        return Self.identifier(name) == identifier ? name : nil
    }

    /// With each escape, and its two hexadecimal digits, as the byte that they stand for.
    private static func unescaped(_ text: String, by escape: UInt8) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == escape else {
                bytes.append(byte)
                continue
            }
            let digits = String(decoding: rest.prefix(2), as: UTF8.self)
            guard digits.utf8.count == 2, let value = UInt8(digits, radix: 16) else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return bytes
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16, uppercase: true)
        return digits.utf8.count == 1 ? "0" + digits : digits
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7f...0x9f, 0x2028, 0x2029, 0xfeff, 0xfdd0...0xfdef: false
        default: !"/+#$%".unicodeScalars.contains(scalar) && scalar.value & 0xfffe != 0xfffe
        }
    }
}

/// Which node has which level of the topics: names may be equal, levels are not.
struct SegmentBook: Sendable {
    private var owners: [String: PeerID] = [:]
    private var entries: [PeerID: Entry] = [:]

    struct Entry: Sendable {
        var base: String
        var segment: String
    }

    init() {}

    /// What the broker remembers. Of two that claim a segment the first has it.
    mutating func remember(_ peer: PeerID, _ segment: String) {
        guard owners[segment] == nil, entries[peer] == nil else { return }
        let base = segment.prefix { $0 != "~" }
        owners[segment] = peer
        entries[peer] = Entry(base: String(base), segment: segment)
    }

    /// What came of asking for a node's segment.
    enum Answer: Equatable, Sendable {
        case same(String)
        /// It has none of `former`'s topics any more. `rival` has the plain name.
        case new(String, former: String?, rival: PeerID?)

        var segment: String {
            switch self {
            case .same(let segment), .new(let segment, _, _): segment
            }
        }
    }

    /// The plain name for the first that has it, with the begin of the PeerID behind it for others.
    mutating func segment(of peer: PeerID, named name: String) -> Answer {
        let base = TopicSegment.escaped(name)
        let entry = entries[peer]
        if let entry, entry.base == base || entry.segment == base { return .same(entry.segment) }
        let id = peer.description
        let candidates = [base, base + "~" + id.prefix(5), base + "~" + id]
        let segment = candidates.first { owners[$0] == nil } ?? candidates[2]
        if let entry { owners[entry.segment] = nil }
        owners[segment] = peer
        entries[peer] = Entry(base: base, segment: segment)
        let rival = segment == base ? nil : owners[base]
        return .new(segment, former: entry?.segment, rival: rival)
    }

    mutating func forget(_ peer: PeerID) {
        guard let entry = entries.removeValue(forKey: peer) else { return }
        owners[entry.segment] = nil
    }
}
