/// How many columns of a terminal a text takes. By blocks alone: Unicode's tables of properties
/// would weigh more in the agent than its node table.
package enum TextWidth {
    package static func columns(_ text: String) -> Int {
        text.unicodeScalars.reduce(0) { $0 + (isWide($1) ? 2 : isCombining($1) ? 0 : 1) }
    }

    /// East Asian wide and full-width blocks (Unicode Standard Annex 11), and emoji.
    package static func isWide(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x1100...0x115f, 0x2e80...0x303e, 0x3041...0x33ff, 0x3400...0x4dbf, 0x4e00...0x9fff,
            0xa000...0xa4cf, 0xac00...0xd7a3, 0xf900...0xfaff, 0xfe30...0xfe6f, 0xff00...0xff60,
            0xffe0...0xffe6, 0x1f300...0x1f64f, 0x1f680...0x1f6ff, 0x1f900...0x1faff,
            0x20000...0x3fffd:
            true
        default: false
        }
    }

    /// The marks of common scripts, and variation selectors.
    private static func isCombining(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x300...0x36f, 0x483...0x489, 0x591...0x5bd, 0x610...0x61a, 0x64b...0x65f,
            0x200b...0x200f, 0x20d0...0x20ff, 0xfe00...0xfe0f, 0xfe20...0xfe2f:
            true
        default: false
        }
    }
}

extension Unicode.Scalar {
    /// Whether it does as much to a terminal or a log as to take its place: it is neither a control
    /// character (C0, DEL, C1), nor a separator of lines, nor one that overrides or isolates the
    /// direction of the text (Unicode Standard Annex 9, §2).
    package var isPlain: Bool {
        switch value {
        case ..<0x20, 0x7f...0x9f, 0x2028...0x202e, 0x2066...0x2069: false
        default: true
        }
    }
}

extension Unicode.Scalar {
    /// C0, DEL and C1: what Unicode calls controls (general category Cc, which is never extended),
    /// without a look into its tables.
    public var isControl: Bool { value < 0x20 || (0x7f...0x9f).contains(value) }
}

extension String {
    /// Nothing but printable ASCII, and none of these two.
    public func isPrintableASCII(except one: Unicode.Scalar, _ other: Unicode.Scalar) -> Bool {
        utf8.allSatisfy {
            (0x20...0x7e).contains($0) && UInt32($0) != one.value && UInt32($0) != other.value
        }
    }
}
