import NearbyCore

/// Why a text is not a decimal number.
public enum DecimalError: Error, Hashable, Sendable {
    case syntax
    /// More than `Limits.decimalTextBytesMax` bytes.
    case tooLong
    /// The exponent does not fit in −128…127.
    case outOfRange
}

extension Limits {
    /// The longest text taken for a number, bytes.
    static let decimalTextBytesMax = 64
}

extension DecimalValue {
    /// Reads `[+-] digits [. digits] [e [+-] digits]`, with a digit on at least one side of the
    /// point. Digits that a 64-bit coefficient cannot hold are rounded. `nan` and `inf` are
    /// refused.
    public init(parsing text: some StringProtocol) throws(DecimalError) {
        let bytes = Array(text.utf8.prefix(Limits.decimalTextBytesMax + 1))
        guard bytes.count <= Limits.decimalTextBytesMax else { throw .tooLong }
        var parser = DecimalParser(bytes: bytes)
        self = try parser.parse()
    }
}

extension DecimalValue: CustomStringConvertible {
    /// Exact: plain digits for exponents −20…6, otherwise `digits e exponent`, as JSON takes it.
    public var description: String {
        let digits = String(coefficient.magnitude)
        let sign = coefficient < 0 ? "-" : ""
        switch Int(exponent) {
        case 0: return sign + digits
        case 1...6:
            return coefficient == 0
                ? "0" : sign + digits + String(repeating: "0", count: Int(exponent))
        case -20...(-1):
            let places = -Int(exponent)
            let padded = String(repeating: "0", count: max(0, places + 1 - digits.count)) + digits
            return sign + padded.dropLast(places) + "." + padded.suffix(places)
        default: return "\(sign)\(digits)e\(exponent)"
        }
    }
}

private struct DecimalParser {
    let bytes: [UInt8]
    var index = 0
    var magnitude: UInt64 = 0
    var exponent = 0
    var isFull = false
    var roundsUp = false

    init(bytes: [UInt8]) { self.bytes = bytes }

    mutating func parse() throws(DecimalError) -> DecimalValue {
        let isNegative = takeSign()
        let limit = UInt64(Int64.max) + (isNegative ? 1 : 0)
        var digitCount = takeDigits(limit: limit, areFraction: false)
        if peek() == UInt8(ascii: ".") {
            index += 1
            digitCount += takeDigits(limit: limit, areFraction: true)
        }
        guard digitCount > 0 else { throw .syntax }
        if let next = peek(), next | 0x20 == UInt8(ascii: "e") {
            index += 1
            try takeExponent()
        }
        guard index == bytes.count else { throw .syntax }
        if roundsUp, magnitude < limit { magnitude += 1 }
        if magnitude == 0 { exponent = min(max(exponent, -128), 127) }
        guard let narrow = Int8(exactly: exponent) else { throw .outOfRange }
        let coefficient = isNegative ? 0 &- Int64(truncatingIfNeeded: magnitude) : Int64(magnitude)
        return DecimalValue(coefficient: coefficient, exponent: narrow)
    }

    private func peek() -> UInt8? { index < bytes.count ? bytes[index] : nil }

    private mutating func takeSign() -> Bool {
        guard let byte = peek(), byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+") else {
            return false
        }
        index += 1
        return byte == UInt8(ascii: "-")
    }

    private mutating func takeDigit() -> UInt64? {
        guard let byte = peek(), byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else {
            return nil
        }
        index += 1
        return UInt64(byte - UInt8(ascii: "0"))
    }

    /// Returns how many digits there were.
    private mutating func takeDigits(limit: UInt64, areFraction: Bool) -> Int {
        var count = 0
        while let digit = takeDigit() {
            count += 1
            if !isFull, magnitude <= (limit - digit) / 10 {
                magnitude = magnitude * 10 + digit
                if areFraction { exponent -= 1 }
                continue
            }
            if !isFull { roundsUp = digit >= 5 }
            isFull = true
            if !areFraction { exponent += 1 }
        }
        return count
    }

    private mutating func takeExponent() throws(DecimalError) {
        let isNegative = takeSign()
        var value = 0
        var count = 0
        while let digit = takeDigit() {
            count += 1
            value = min(value * 10 + Int(digit), 10_000)
        }
        guard count > 0 else { throw .syntax }
        exponent += isNegative ? -value : value
    }
}
