/// The order in which a person looks for names: `board-2` before `board-10`.
public enum NaturalOrder {
    /// Whether one stands before the other: digits by the number that they make, the rest byte by
    /// byte. Of two that are the same number, that with fewer zeros; never the same for two names.
    public static func isBefore(_ left: String, _ right: String) -> Bool {
        var (one, two) = (Substring(left).utf8[...], Substring(right).utf8[...])
        while let first = one.first, let second = two.first {
            if isDigit(first), isDigit(second) {
                let (number, other) = (takeNumber(&one), takeNumber(&two))
                if number.count != other.count { return number.count < other.count }
                if !number.elementsEqual(other) { return number.lexicographicallyPrecedes(other) }
            } else {
                if first != second { return first < second }
                one = one.dropFirst()
                two = two.dropFirst()
            }
        }
        if one.isEmpty != two.isEmpty { return one.isEmpty }
        return left < right
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    /// Without zeros before it.
    private static func takeNumber(_ text: inout Substring.UTF8View) -> Substring.UTF8View {
        let digits = text.prefix(while: isDigit)
        text = text.dropFirst(digits.count)
        return digits.drop { $0 == UInt8(ascii: "0") }
    }
}
