/// A key that the list knows.
enum KeyPress: Equatable {
    case up, down, enter, escape
    /// Ctrl-C.
    case interrupt
    /// Lower case.
    case character(Character)

    /// What a terminal in raw mode sent: one piece of input may be several keys. Sequences of keys
    /// that are not known are skipped.
    static func keys(_ bytes: [UInt8]) -> [KeyPress] {
        var keys: [KeyPress] = []
        var rest = bytes[...]
        while let first = rest.popFirst() {
            switch first {
            case 0x1b: keys += sequence(&rest)
            case 0x0d, 0x0a: keys.append(.enter)
            case 0x03: keys.append(.interrupt)
            case 0x20..<0x7f:
                keys += Character(UnicodeScalar(first)).lowercased().map { .character($0) }
            default: break
            }
        }
        return keys
    }

    /// What follows an escape: ECMA-48's control sequences, and the arrows of application mode.
    private static func sequence(_ rest: inout ArraySlice<UInt8>) -> [KeyPress] {
        guard let introducer = rest.first, introducer == UInt8(ascii: "[") || introducer == 0x4f
        else { return [.escape] }
        rest.removeFirst()
        while let byte = rest.popFirst() {
            guard (0x40...0x7e).contains(byte) else { continue }
            switch byte {
            case UInt8(ascii: "A"): return [.up]
            case UInt8(ascii: "B"): return [.down]
            default: return []
            }
        }
        return []
    }
}
