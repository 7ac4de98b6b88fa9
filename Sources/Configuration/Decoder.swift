/// A key of the configuration: the same entry decodes and documents it.
public struct Key: Sendable {
    public var name: String
    /// As written for people: `duration`, `text`, `list of text`…
    public var kind: String
    /// Empty where it must be given or where leaving it out means none.
    public var standard: String
    public var meaning: String

    public init(_ name: String, _ kind: String, _ standard: String, _ meaning: String) {
        self.name = name
        self.kind = kind
        self.standard = standard
        self.meaning = meaning
    }
}

/// Gathers mistakes while a tree is decoded: all of them, not the first.
final class MistakeList {
    let file: String
    private(set) var mistakes: [Mistake] = []

    init(file: String) { self.file = file }

    func add(_ mark: Mark, _ message: String) {
        mistakes.append(Mistake(file: file, mark: mark, message: message))
    }
}

/// A mapping whose keys are known: reads values by type and reports what does not fit.
struct Section {
    let mark: Mark
    private let name: String
    private let values: [String: YAMLNode]
    private let mistakes: MistakeList

    /// `later` are keys of versions to come, which are named rather than guessed at.
    init?(
        _ node: YAMLNode, _ name: String, keys: [Key], later: [String] = [], _ mistakes: MistakeList
    ) {
        self.name = name
        self.mistakes = mistakes
        mark = node.mark
        guard case .mapping(let pairs) = node.value else {
            mistakes.add(node.mark, "\(name) must be a mapping of keys to values")
            return nil
        }
        var values: [String: YAMLNode] = [:]
        for (key, value) in pairs {
            guard case .scalar(let text, _) = key.value else {
                mistakes.add(key.mark, "a key of \(name) must be a plain word")
                continue
            }
            if values[text] != nil {
                mistakes.add(key.mark, "\(text) comes twice in \(name); leave one out")
            } else if keys.contains(where: { $0.name == text }) {
                values[text] = value
            } else if later.contains(text) {
                mistakes.add(key.mark, "\(text) is not in this version; leave it out")
            } else {
                mistakes.add(key.mark, Self.unknown(text, name, keys.map(\.name)))
            }
        }
        self.values = values
    }

    func node(_ key: String) -> YAMLNode? { values[key] }

    func has(_ key: String) -> Bool { values[key] != nil }

    /// A value decoded by `decode`, which says what it expects where it gives nil.
    func value<Value>(
        _ key: String, expects: String, _ decode: (String) -> Value?
    ) -> Value? {
        guard let node = values[key] else { return nil }
        guard case .scalar(let text, _) = node.value else {
            mistakes.add(node.mark, "\(key) must be \(expects)")
            return nil
        }
        guard let value = decode(text) else {
            mistakes.add(node.mark, "\(key) is '\(Self.shown(text))'; it must be \(expects)")
            return nil
        }
        return value
    }

    func text(_ key: String, bytes: ClosedRange<Int> = 1...1_024) -> String? {
        value(key, expects: "text of \(bytes.lowerBound) to \(bytes.upperBound) bytes") {
            bytes.contains($0.utf8.count) ? $0 : nil
        }
    }

    func integer(_ key: String, _ range: ClosedRange<Int>) -> Int? {
        value(key, expects: "a whole number from \(range.lowerBound) to \(range.upperBound)") {
            Int($0).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    func flag(_ key: String) -> Bool? {
        value(key, expects: "true or false") { $0 == "true" ? true : $0 == "false" ? false : nil }
    }

    func choice<Choice: RawRepresentable & CaseIterable>(_ key: String) -> Choice?
    where Choice.RawValue == String {
        let names = Choice.allCases.map(\.rawValue)
        return value(key, expects: "one of " + names.joined(separator: ", ")) {
            Choice(rawValue: $0)
        }
    }

    func duration(_ key: String, _ range: ClosedRange<Duration>) -> Duration? {
        let bounds = "\(Quantity.text(range.lowerBound)) to \(Quantity.text(range.upperBound))"
        return value(key, expects: "a duration such as 250ms, 10s, 5min, 2h or 90d, \(bounds)") {
            Quantity.duration($0).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    func texts(_ key: String, most: Int = 64) -> [String]? {
        guard let node = values[key] else { return nil }
        guard case .sequence(let items) = node.value, items.count <= most else {
            mistakes.add(node.mark, "\(key) must be a list of at most \(most)")
            return nil
        }
        return items.compactMap { item in
            if case .scalar(let text, _) = item.value { return text }
            mistakes.add(item.mark, "an entry of \(key) must be text")
            return nil
        }
    }

    func add(_ key: String, _ message: String) { mistakes.add(values[key]?.mark ?? mark, message) }

    /// Long or strange values are not repeated in full.
    static func shown(_ text: String) -> String {
        let plain = text.unicodeScalars.prefix(40).map { $0.value < 0x20 ? "?" : String($0) }
            .joined()
        return text.unicodeScalars.count > 40 ? plain + "…" : plain
    }

    static func unknown(_ key: String, _ section: String, _ known: [String]) -> String {
        let message = "unknown key \(shown(key)) in \(section)"
        let nearest = known.map { (distance: editDistance(key, $0), name: $0) }.min { $0 < $1 }
        guard let nearest, nearest.distance <= max(2, nearest.name.count / 2) else {
            return message + "; known are " + known.joined(separator: ", ")
        }
        return message + "; did you mean \(nearest.name)?"
    }

    /// Levenshtein's distance, over at most 64 characters.
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
