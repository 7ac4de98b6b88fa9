import Telemetry

/// How one number lies in a scan, as `scan_elements/…_type` says it:
///
///     be|le : s|u  bits / storage bits [X repeats] [>> shift]        le:s12/16>>4
struct IIOScanType: Equatable, Sendable {
    var isBigEndian: Bool
    var isSigned: Bool
    /// 1…64: those that count.
    var bits: Int
    /// 8, 16, 32 or 64: those that it takes.
    var storageBits: Int
    /// 1…16: so many numbers follow each other.
    var repeats: Int
    /// Bits to drop at the low end.
    var shift: Int

    /// Nil for anything else.
    init?(parsing text: String) {
        var rest = Substring(text)
        guard let isBigEndian = Self.take(&rest, "be:", "le:"),
            let isSigned = Self.take(&rest, "s", "u"),
            let bits = Self.takeNumber(&rest), Self.take(&rest, "/") != nil,
            let storageBits = Self.takeNumber(&rest)
        else { return nil }
        self.isBigEndian = isBigEndian
        self.isSigned = isSigned
        self.bits = bits
        self.storageBits = storageBits
        (repeats, shift) = (1, 0)
        if Self.take(&rest, "X") != nil {
            guard let number = Self.takeNumber(&rest) else { return nil }
            repeats = number
        }
        if Self.take(&rest, ">>") != nil {
            guard let number = Self.takeNumber(&rest) else { return nil }
            shift = number
        }
        guard rest.isEmpty, [8, 16, 32, 64].contains(storageBits), (1...16).contains(repeats),
            bits >= 1, bits + shift <= storageBits
        else { return nil }
    }

    /// Bytes that the numbers take together; a scan has them at a multiple of that.
    var byteCount: Int { storageBits / 8 * repeats }

    /// One number out of `storageBits / 8` bytes; nil for an unsigned one over 2^63.
    func value(_ bytes: some Collection<UInt8>) -> Int64? {
        var word: UInt64 = 0
        if isBigEndian {
            for byte in bytes { word = word << 8 | UInt64(byte) }
        } else {
            for byte in Array(bytes).reversed() { word = word << 8 | UInt64(byte) }
        }
        word >>= UInt64(shift)
        let unused = UInt64(64 - bits)
        word = (word << unused) >> unused
        guard isSigned else { return Int64(exactly: word) }
        return Int64(bitPattern: word << unused) >> Int64(unused)
    }

    /// Whether the first of the texts is next; nil if neither is. It is taken.
    private static func take(
        _ rest: inout Substring, _ first: String, _ second: String? = nil
    ) -> Bool? {
        for text in [first, second].compactMap({ $0 }) where rest.hasPrefix(text) {
            rest = rest.dropFirst(text.count)
            return text == first
        }
        return nil
    }

    /// At most three digits.
    private static func takeNumber(_ rest: inout Substring) -> Int? {
        let digits = rest.prefix { $0.isASCII && $0.isNumber }
        guard (1...3).contains(digits.count) else { return nil }
        rest = rest.dropFirst(digits.count)
        return Int(digits)
    }
}

/// What a buffer delivers at each trigger: the enabled elements in the order of their indices, each
/// at a multiple of its own size, the whole at a multiple of the largest
/// (drivers/iio/industrialio-buffer.c, iio_compute_scan_bytes).
struct IIOScanLayout: Equatable, Sendable {
    struct Element: Equatable, Sendable {
        var type: IIOScanType
        var offset: Int
    }

    /// In the order in which they were given.
    private(set) var elements: [Element] = []
    private(set) var byteCount = 0

    /// The types of the enabled elements by rising index.
    init(_ types: [IIOScanType]) {
        var largest = 1
        for type in types {
            byteCount = Self.rounded(byteCount, to: type.byteCount)
            elements.append(Element(type: type, offset: byteCount))
            byteCount += type.byteCount
            largest = max(largest, type.byteCount)
        }
        byteCount = Self.rounded(byteCount, to: largest)
    }

    /// The numbers of each element of one scan; `bytes` are at least `byteCount`.
    func values(_ bytes: ArraySlice<UInt8>) -> [[Int64?]] {
        elements.map { element in
            let size = element.type.storageBits / 8
            return (0..<element.type.repeats).map { index in
                let start = bytes.startIndex + element.offset + index * size
                guard start + size <= bytes.endIndex else { return nil }
                return element.type.value(bytes[start..<start + size])
            }
        }
    }

    private static func rounded(_ count: Int, to size: Int) -> Int {
        (count + size - 1) / size * size
    }
}
