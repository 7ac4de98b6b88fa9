/// A key, as a terminal sends it.
public enum TopKey: Hashable, Sendable {
    case up, down, left, right, pageUp, pageDown, home, end
    case enter, escape, backspace, tab
    /// Ctrl-C.
    case interrupt
    /// Ctrl-L.
    case redraw
    case character(Character)
}

/// Makes keys of what a terminal in raw mode sends: a key may come in pieces, several at once.
public struct TopKeyReader: Sendable {
    /// What has begun and is not whole.
    private var rest: [UInt8] = []

    public init() {}

    /// Whether an escape waits for what may follow it.
    public var isWaiting: Bool { !rest.isEmpty }

    /// Nothing follows any more: an escape alone is the key.
    public mutating func flush() -> [TopKey] {
        defer { rest = [] }
        return rest.first == 0x1b ? [.escape] : []
    }

    public mutating func read(_ bytes: [UInt8]) -> [TopKey] {
        var keys: [TopKey] = []
        var input = (rest + bytes)[...]
        rest = []
        while let first = input.first {
            if first == 0x1b {
                guard let (key, count) = Self.sequence(input) else {
                    // What is longer than any sequence is none.
                    rest = input.count > 16 ? [] : Array(input)
                    return keys
                }
                if let key { keys.append(key) }
                input = input.dropFirst(count)
            } else if first >= 0x80 {
                guard let (key, count) = Self.character(input) else {
                    rest = Array(input)
                    return keys
                }
                if let key { keys.append(key) }
                input = input.dropFirst(count)
            } else {
                if let key = Self.plain(first) { keys.append(key) }
                input = input.dropFirst()
            }
        }
        return keys
    }

    private static func plain(_ byte: UInt8) -> TopKey? {
        switch byte {
        case 0x03: .interrupt
        case 0x09: .tab
        case 0x0a, 0x0d: .enter
        case 0x0c: .redraw
        case 0x08, 0x7f: .backspace
        case 0x20..<0x7f: .character(Character(UnicodeScalar(byte)))
        default: nil
        }
    }

    /// A character of UTF-8; nil if its end is missing. What is none is skipped.
    private static func character(_ input: ArraySlice<UInt8>) -> (TopKey?, Int)? {
        guard let first = input.first else { return nil }
        let count = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : first >= 0xc0 ? 2 : 1
        guard input.count >= count else { return nil }
        let text = String(decoding: input.prefix(count), as: UTF8.self)
        guard text.count == 1, let character = text.first, character != "\u{fffd}" else {
            return (nil, 1)
        }
        return (.character(character), count)
    }

    /// ECMA-48's control sequences, and the keys of application mode (SS3). An escape before
    /// anything else is the key itself. Nil if the end is missing.
    private static func sequence(_ input: ArraySlice<UInt8>) -> (TopKey?, Int)? {
        let bytes = Array(input.prefix(17))
        guard bytes.count > 1 else { return nil }
        guard bytes[1] == UInt8(ascii: "[") || bytes[1] == UInt8(ascii: "O") else {
            return (.escape, 1)
        }
        guard let end = bytes.dropFirst(2).firstIndex(where: { (0x40...0x7e).contains($0) })
        else { return nil }
        let digits = bytes[2..<end].prefix { (0x30...0x39).contains($0) }
        return (key(bytes[end], Int(String(decoding: digits, as: UTF8.self))), end + 1)
    }

    private static func key(_ final: UInt8, _ number: Int?) -> TopKey? {
        switch (final, number) {
        case (UInt8(ascii: "A"), _): .up
        case (UInt8(ascii: "B"), _): .down
        case (UInt8(ascii: "C"), _): .right
        case (UInt8(ascii: "D"), _): .left
        case (UInt8(ascii: "H"), _), (UInt8(ascii: "~"), 1), (UInt8(ascii: "~"), 7): .home
        case (UInt8(ascii: "F"), _), (UInt8(ascii: "~"), 4), (UInt8(ascii: "~"), 8): .end
        case (UInt8(ascii: "~"), 5): .pageUp
        case (UInt8(ascii: "~"), 6): .pageDown
        default: nil
        }
    }
}
