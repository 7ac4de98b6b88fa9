/// A character that is in a text and that nobody sees.
struct InvisibleCharacter {
    let scalar: Unicode.Scalar
    /// Which character of the text it is, from 1.
    let position: Int

    /// The first one; nil if there is none. Not space itself: `PlainText` has the ASCII controls.
    init?(in text: String) {
        for (index, scalar) in text.unicodeScalars.enumerated() where Self.isInvisible(scalar) {
            self.scalar = scalar
            position = index + 1
            return
        }
        return nil
    }

    /// What to do about it in the value of a key.
    func advice(_ key: String) -> String {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        let code = String(repeating: "0", count: max(0, 4 - digits.count)) + digits
        return
            "\(key) has an invisible character, U+\(code), as its character \(position); type it "
            + "anew"
    }

    /// Controls, spaces of other widths, joiners, marks of direction, tags (Unicode 16, categories
    /// Cc, Cf and Z, those that editors and web pages leave behind).
    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x80...0xa0, 0xad, 0x34f, 0x61c, 0x115f, 0x1160, 0x1680, 0x180e, 0x2000...0x200f,
            0x2028...0x202f, 0x205f...0x206f, 0x3000, 0x3164, 0xfe00...0xfe0f, 0xfeff, 0xffa0,
            0xfff9...0xfffc, 0xe0000...0xe0fff:
            true
        default: false
        }
    }
}
