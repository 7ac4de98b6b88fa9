import NearbyCore

/// What to write instead of a word that is not known.
package enum Suggestion {
    /// `did you mean …?`, or the list of known words where none is near.
    package static func text(for word: String, among known: [String]) -> String {
        nearest(to: word, among: known) ?? "known are " + known.joined(separator: ", ")
    }

    /// `did you mean …?`; nil where none is near.
    static func nearest(to word: String, among known: [String]) -> String? {
        let nearest = known.map { (distance: editDistance(word, $0), name: $0) }.min { $0 < $1 }
        guard let nearest, nearest.distance <= max(2, nearest.name.count / 2) else { return nil }
        return "did you mean \(nearest.name)?"
    }

    /// Levenshtein's distance, over the first 64 characters.
    static func editDistance(_ left: String, _ right: String) -> Int {
        let a = Array(left.prefix(64))
        let b = Array(right.prefix(64))
        var row = Array(0...b.count)
        for i in a.indices {
            var diagonal = row[0]
            row[0] = i + 1
            for j in b.indices {
                let cost = min(row[j + 1] + 1, row[j] + 1, diagonal + (a[i] == b[j] ? 0 : 1))
                diagonal = row[j + 1]
                row[j + 1] = cost
            }
        }
        return row[b.count]
    }
}

/// Text for people.
package enum PlainText {
    /// Plain scalars alone: so is what is shown on a terminal or given to the kernel.
    package static func isPrintable(_ text: String) -> Bool {
        text.unicodeScalars.allSatisfy(\.isPlain)
    }

    /// A value as a message repeats it: at most 40 characters, all of them printable; never what
    /// looks like a secret, wherever it was written.
    package static func shown(_ text: String) -> String {
        if resemblesSecret(text) { return "(a secret, not shown)" }
        let start = text.unicodeScalars.prefix(40)
        let plain = start.map { $0.isPlain ? String($0) : "?" }.joined()
        return text.unicodeScalars.count > 40 ? plain + "…" : plain
    }

    /// Whether a secret, or a line that joins a board to a network, is somewhere in the text. Byte
    /// by byte: to look for a string in a string would link a megabyte of regular expressions.
    package static func resemblesSecret(_ text: String) -> Bool {
        let bytes = Array(text.lowercased().utf8)
        return bytes.indices.contains { index in
            ["rvs1", joinPrefix].contains { bytes[index...].starts(with: $0.utf8) }
        }
    }

    /// What the line that joins a board to a network begins with.
    package static let joinPrefix = "rivulet1:"
}

/// The name that all nodes of a network share; as a service type, so that DNS-SD can carry it.
package enum NetworkName {
    static let bytesMax = 15

    /// 1–15 of a–z, 0–9 and hyphen, at least one letter, no leading, trailing or doubled hyphen
    /// (RFC 6335 §5.1).
    package static func isValid(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        let hyphen = UInt8(ascii: "-")
        let isLetter = { (byte: UInt8) in (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }
        let isDigit = { (byte: UInt8) in (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
        return (1...bytesMax).contains(bytes.count)
            && bytes.allSatisfy { isLetter($0) || isDigit($0) || $0 == hyphen }
            && bytes.contains(where: isLetter)
            && bytes.first != hyphen && bytes.last != hyphen
            && !zip(bytes, bytes.dropFirst()).contains { $0 == hyphen && $1 == hyphen }
    }
}
