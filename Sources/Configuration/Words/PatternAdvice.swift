/// What people write in regular expressions that POSIX's extended ones do not have. regcomp takes
/// some of it and means something else, so that lines would never match.
enum PatternAdvice {
    /// What to write in place of the first such thing; nil if there is none.
    static func fault(_ pattern: String) -> String? {
        let bytes = Array(pattern.utf8)
        var index = 0
        var isQuantified = false
        while index < bytes.count {
            let byte = bytes[index]
            let next = index + 1 < bytes.count ? bytes[index + 1] : 0
            switch byte {
            case UInt8(ascii: "\\"):
                if let advice = escape(next) { return advice }
                index += 1
                isQuantified = false
            case UInt8(ascii: "["):
                let end = closing(bytes, index)
                if let advice = bracket(bytes[index..<end]) { return advice }
                index = end
                isQuantified = false
            case UInt8(ascii: "(") where next == UInt8(ascii: "?"):
                return
                    "pattern has (?, which this dialect lacks (POSIX extended); a plain ( begins "
                    + "a group"
            case UInt8(ascii: "?") where isQuantified, UInt8(ascii: "+") where isQuantified:
                return "pattern has a lazy or possessive quantifier, \(text(bytes, index)), which "
                    + "this dialect lacks (POSIX extended); exclude what follows instead: [^,]*"
            default:
                isQuantified = "*+?}".utf8.contains(byte)
            }
            index += 1
        }
        return nil
    }

    /// `byte`: what follows the backslash. Of letters only w, s and b are known, by glibc.
    private static func escape(_ byte: UInt8) -> String? {
        switch byte {
        case UInt8(ascii: "d"): return "pattern has \\d, which this dialect lacks; write [0-9]"
        case UInt8(ascii: "D"): return "pattern has \\D, which this dialect lacks; write [^0-9]"
        case UInt8(ascii: "t"):
            return "pattern has \\t, which is a plain t here; write [[:blank:]]"
        case _ where "wWsSbB".utf8.contains(byte): return nil
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"):
            let letter = Unicode.Scalar(byte)
            return "pattern has \\\(letter), which is a plain \(letter) here; write what is meant"
        default: return nil
        }
    }

    /// Within brackets a backslash stands for itself.
    private static func bracket(_ bytes: ArraySlice<UInt8>) -> String? {
        for (slash, letter) in zip(bytes, bytes.dropFirst())
        where slash == UInt8(ascii: "\\") && "dDwWsS".utf8.contains(letter) {
            return "pattern has \\\(Unicode.Scalar(letter)) in brackets, where a backslash stands "
                + "for itself; write 0-9, [:alnum:] or [:space:] there"
        }
        return nil
    }

    /// Where the bracket that begins at `start` has its `]`, or the end.
    private static func closing(_ bytes: [UInt8], _ start: Int) -> Int {
        var index = start + 1
        if index < bytes.count, bytes[index] == UInt8(ascii: "^") { index += 1 }
        if index < bytes.count, bytes[index] == UInt8(ascii: "]") { index += 1 }
        while index < bytes.count, bytes[index] != UInt8(ascii: "]") {
            // [:alpha:] has a bracket of its own.
            if bytes[index] == UInt8(ascii: "["), index + 1 < bytes.count,
                ":.=".utf8.contains(bytes[index + 1]),
                let end = bytes[(index + 2)...].firstIndex(of: UInt8(ascii: "]"))
            {
                index = end
            }
            index += 1
        }
        return min(index, bytes.count)
    }

    private static func text(_ bytes: [UInt8], _ index: Int) -> String {
        String(decoding: bytes[max(0, index - 1)...index], as: UTF8.self)
    }
}
