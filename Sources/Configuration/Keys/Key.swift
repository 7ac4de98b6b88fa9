/// A key of the configuration: the same entry decodes and documents it.
public struct Key: Sendable {
    public var name: String
    public var form: Form
    public var standard: Standard
    public var meaning: String

    /// What holds where the key is left out.
    public enum Standard: Sendable {
        /// As it would be written in the file; decoded like a value from there.
        case value(String)
        /// Found by other means, or nothing: told in words.
        case described(String)
        /// The key must be given.
        case required
    }

    /// What a value may be.
    public enum Form: Sendable {
        /// Text without control characters, bytes of UTF-8.
        case text(ClosedRange<Int>)
        case path
        /// A path, or `off`.
        case pathOrOff
        case networkName
        case secret
        /// So many bytes in hexadecimal; not to be shown.
        case hexadecimal(bytes: Int)
        case integer(ClosedRange<Int>)
        /// Bytes, as a plain number or with B, KiB, MiB or GiB.
        case size(ClosedRange<Int>)
        case duration(ClosedRange<Duration>)
        case flag
        /// Digits, with at most one point and a minus sign before them.
        case decimal
        /// `later` are values of versions to come.
        case choice([String], later: [String] = [])
        /// A list of at most `most`; `element` says what each of them is.
        case list(element: String, most: Int)
        case pairs(most: Int)
        case section
        /// A section, or one of these words in its place.
        case sectionOrWord([String])
        /// A section, or text `key=value` for one that has this key alone.
        case sectionOrPair(String)
        case sections(most: Int)
        /// A mapping whose keys are names, each with a section.
        case namedSections(most: Int)
        /// A number, or one with a per cent sign.
        case change
    }

    package init(_ name: String, _ form: Form, _ standard: Standard, _ meaning: String) {
        self.name = name
        self.form = form
        self.standard = standard
        self.meaning = meaning
    }
}

extension Key.Form {
    /// For messages: "port must be …".
    package var expected: String {
        switch self {
        case .text(let bytes):
            "text of \(bytes.lowerBound) to \(bytes.upperBound) bytes without control characters"
        case .path: "a path of at most \(Self.pathBytesMax) bytes"
        case .pathOrOff: "a path of at most \(Self.pathBytesMax) bytes, or off"
        case .networkName:
            "1 to 15 of a–z, 0–9 and hyphen, with a letter, and hyphens only between others"
        case .secret: "a line made by `rivulet secret`"
        case .hexadecimal(let bytes): "\(bytes * 2) hexadecimal digits"
        case .integer(let range):
            "a whole number from \(range.lowerBound) to \(range.upperBound)"
        case .size(let range):
            "a size such as 400, 64KiB or 4MiB, \(Quantity.text(bytes: range.lowerBound)) to "
                + Quantity.text(bytes: range.upperBound)
        case .duration(let range):
            "a duration such as 250ms, 10s, 5min, 2h or 90d, \(Quantity.text(range.lowerBound)) to "
                + Quantity.text(range.upperBound)
        case .flag: "true or false"
        case .decimal: "a number such as 0.2794, of at most 15 digits"
        case .choice(let names, _): "one of " + names.joined(separator: ", ")
        case .list(let element, let most): "a list of at most \(most), each \(element)"
        case .pairs(let most): "a mapping of at most \(most) pairs of text"
        case .section: "a mapping of keys to values"
        case .sectionOrWord(let words):
            "a mapping of keys to values, or " + words.joined(separator: " or ")
        case .sectionOrPair(let example):
            "a mapping of keys to values, or text such as \"\(example)\""
        case .sections(let most): "a list of at most \(most) mappings, each beginning with -"
        case .namedSections(let most):
            "a mapping of at most \(most) names, each to a mapping such as {unit: hPa}"
        case .change: "a number such as 0.5, or a share such as 2%"
        }
    }

    /// For the reference.
    var documented: String {
        switch self {
        case .text(let bytes): "text, \(bytes.lowerBound) to \(bytes.upperBound) bytes"
        case .path: "path"
        case .pathOrOff: "path, or `off`"
        case .networkName: "1 to 15 of a–z, 0–9, hyphen"
        case .secret: "a line from `rivulet secret`"
        case .hexadecimal(let bytes): "\(bytes * 2) hexadecimal digits"
        case .integer(let range): "\(range.lowerBound) to \(range.upperBound)"
        case .size(let range):
            "size, \(Quantity.text(bytes: range.lowerBound)) to "
                + Quantity.text(bytes: range.upperBound)
        case .duration(let range):
            "duration, \(Quantity.text(range.lowerBound)) to \(Quantity.text(range.upperBound))"
        case .flag: "true or false"
        case .decimal: "number, at most 15 digits"
        case .choice(let names, _): names.joined(separator: ", ")
        case .list(let element, let most): "list of at most \(most), each \(element)"
        case .pairs(let most): "mapping of text to text, at most \(most)"
        case .section: "section"
        case .sectionOrWord(let words): "section, or " + words.joined(separator: ", ")
        case .sectionOrPair(let example): "section, or `\"\(example)\"`"
        case .sections(let most): "list of at most \(most) sections"
        case .namedSections(let most): "mapping of at most \(most) names to sections"
        case .change: "number, or share with %"
        }
    }

    /// Linux's PATH_MAX without its zero.
    static let pathBytesMax = 4_095
}

/// The keys of one mapping.
public struct KeyTable: Sendable {
    /// For people: `links.udp`, `the command sensor`.
    public var name: String
    public var keys: [Key]
    /// Keys of versions to come: named rather than guessed at.
    public var later: [String]

    package init(_ name: String, _ keys: [Key], later: [String] = []) {
        self.name = name
        self.keys = keys
        self.later = later
    }

    /// Nil for a key that is not in the table.
    func key(_ name: String) -> Key? { keys.first { $0.name == name } }
}
