/// Gathers mistakes while a tree is decoded: all of them, not the first.
package final class MistakeList {
    package let file: String
    package private(set) var mistakes: [Mistake] = []
    /// What is allowed, and hardly meant.
    package private(set) var warnings: [Mistake] = []

    /// In the file's order. Sorting need not be stable: those at one place are put in the order of
    /// their text.
    package var inOrder: [Mistake] { Self.inOrder(mistakes) }

    var warningsInOrder: [Mistake] { Self.inOrder(warnings) }

    private static func inOrder(_ list: [Mistake]) -> [Mistake] {
        list.sorted { ($0.mark, $0.message) < ($1.mark, $1.message) }
    }

    package init(file: String) { self.file = file }

    package func add(_ mark: Mark, _ message: String) {
        mistakes.append(Mistake(file: file, mark: mark, message: message))
    }

    package func warn(_ mark: Mark, _ message: String) {
        warnings.append(Mistake(file: file, mark: mark, message: message))
    }
}

/// A mapping whose keys are in a table: reads values as the table says and reports what does not
/// fit.
///
/// Each accessor gives the table's default where the key is left out or wrong, so that decoding
/// goes on and finds the other mistakes.
package struct Section {
    package let mark: Mark
    private let table: KeyTable
    private let values: [String: YAMLNode]
    private let mistakes: MistakeList

    /// What is no mapping counts as an empty one, with a mistake.
    package init(_ node: YAMLNode, _ table: KeyTable, _ mistakes: MistakeList) {
        self.table = table
        self.mistakes = mistakes
        mark = node.mark
        guard case .mapping(let pairs) = node.value else {
            mistakes.add(node.mark, "\(table.name) must be \(Key.Form.section.expected)")
            values = [:]
            return
        }
        var values: [String: YAMLNode] = [:]
        for (key, value) in pairs {
            guard case .scalar(let name, _) = key.value else {
                mistakes.add(key.mark, "a key of \(table.name) must be a plain word")
                continue
            }
            if let earlier = values[name] {
                let line = earlier.mark.line
                mistakes.add(
                    key.mark, "\(name) comes twice, first in line \(line); leave one out")
            } else if table.key(name) != nil {
                values[name] = value
            } else {
                mistakes.add(key.mark, Self.refusal(of: name, table))
            }
        }
        self.values = values
        for key in table.keys where values[key.name] == nil {
            guard case .required = key.standard else { continue }
            mistakes.add(
                mark,
                "\(table.name) needs the key \(key.name); it must be \(key.form.expected)")
        }
    }

    /// The node of a key that was given.
    package func node(_ key: String) -> YAMLNode? { values[key] }

    /// Whether something stands below a key, other than an empty list.
    func hasContent(_ key: String) -> Bool {
        guard let node = values[key] else { return false }
        if case .sequence(let items) = node.value { return !items.isEmpty }
        return true
    }

    /// The section below a key; an empty one if the key was not given, or has a word in its place.
    package func section(_ key: String, _ table: KeyTable) -> Section {
        let empty = YAMLNode(value: .mapping([]), mark: mark)
        guard let node = values[key], word(key) == nil else {
            return Section(empty, table, mistakes)
        }
        if let pair = pair(key) { return Section(pair, table, mistakes) }
        guard case .mapping = node.value else {
            add(key, "\(table.name) must be \(self.table.key(key)?.form.expected ?? "")")
            return Section(empty, table, mistakes)
        }
        return Section(node, table, mistakes)
    }

    /// The section that `name=value` in its place stands for.
    private func pair(_ key: String) -> YAMLNode? {
        guard case .sectionOrPair = table.key(key)?.form, let node = values[key],
            case .scalar(let text, _) = node.value, let sign = text.firstIndex(of: "=")
        else { return nil }
        let scalar = { (text: Substring) in
            YAMLNode(value: .scalar(String(text), isQuoted: false), mark: node.mark)
        }
        let pair = (key: scalar(text[..<sign]), value: scalar(text[text.index(after: sign)...]))
        return YAMLNode(value: .mapping([pair]), mark: node.mark)
    }

    /// The sections below a key, by name; none if the key was not given.
    package func namedSections(_ key: String, _ table: KeyTable) -> [String: Section] {
        guard let node = values[key], let form = self.table.key(key)?.form,
            case .namedSections(let most) = form
        else { return [:] }
        guard case .mapping(let pairs) = node.value, pairs.count <= most else {
            add(key, "\(key) must be \(form.expected)")
            return [:]
        }
        var sections: [String: Section] = [:]
        for (name, value) in pairs {
            guard let text = name.text, (1...63).contains(text.utf8.count),
                PlainText.isPrintable(text)
            else {
                mistakes.add(name.mark, "a name in \(key) must be 1 to 63 bytes of plain text")
                continue
            }
            if let found = InvisibleCharacter(in: text) {
                mistakes.add(name.mark, found.advice("a name in \(key)"))
            }
            if sections[text] != nil {
                mistakes.add(name.mark, "\(PlainText.shown(text)) comes twice; leave one out")
            }
            sections[text] = Section(value, table, mistakes)
        }
        return sections
    }

    /// The sections in the list below a key; none if the key was not given.
    package func sections(_ key: String, _ table: KeyTable) -> [Section] {
        guard let form = self.table.key(key)?.form, case .sections(let most) = form else {
            return mismatch(key)
        }
        guard let node = values[key] else { return [] }
        guard case .sequence(let items) = node.value, items.count <= most else {
            add(key, "\(key) must be \(form.expected)")
            return []
        }
        return items.map { Section($0, table, mistakes) }
    }

    /// The word that stands in a section's place; nil if a section does, or nothing.
    package func word(_ key: String) -> String? {
        guard case .sectionOrWord(let words) = table.key(key)?.form,
            case .scalar(let text, _) = values[key]?.value, words.contains(text)
        else { return nil }
        return text
    }

    /// Says that something is wrong at a key, or with the section if the key was not given.
    package func add(_ key: String, _ message: String) {
        mistakes.add(values[key]?.mark ?? mark, message)
    }

    package func add(at mark: Mark, _ message: String) { mistakes.add(mark, message) }

    /// Says that not exactly one of these keys is there: at the last of those that are, else at
    /// `place`.
    package func addNotOne(of keys: [String], in what: String, at place: String) {
        let given = keys.filter { values[$0] != nil }
        let list = keys.dropLast().joined(separator: ", ") + " and \(keys[keys.count - 1])"
        add(
            given.last ?? place,
            given.count < 2
                ? "\(what) must have one of the keys \(list)"
                : "\(what) must have exactly one of the keys \(list); it has "
                    + given.joined(separator: " and "))
    }

    /// As `add`, of what is allowed and hardly meant.
    package func warn(_ key: String, _ message: String) {
        mistakes.warn(values[key]?.mark ?? mark, message)
    }

    // MARK: Values

    package func text(_ key: String) -> String? {
        let text = plainText(key)
        guard let text, values[key] != nil, let form = table.key(key)?.form else { return text }
        switch form {
        case .text, .path, .pathOrOff:
            // A pattern may be meant to find them.
            if key != "pattern", let found = InvisibleCharacter(in: text) {
                add(key, found.advice(key))
            }
            if key == "name", text.hasPrefix(" ") || text.hasSuffix(" ") {
                add(key, "name begins or ends with a space; remove it")
            }
        default: break
        }
        switch form {
        case .path: checkPath(key, text)
        case .pathOrOff where text != "off": checkPath(key, text)
        default: break
        }
        return text
    }

    /// That a path means what it seems to.
    func checkPath(_ key: String, _ text: String) {
        guard values[key] != nil else { return }
        if let fault = PathText.fault(text, key) { add(key, fault) }
        if let warning = PathText.warning(text, key) { warn(key, warning) }
    }

    private func plainText(_ key: String) -> String? {
        read(key) { form, text in
            switch form {
            case .text(let bytes):
                bytes.contains(text.utf8.count) && PlainText.isPrintable(text) ? text : nil
            case .path, .pathOrOff:
                (1...Key.Form.pathBytesMax).contains(text.utf8.count)
                    && PlainText.isPrintable(text) ? text : nil
            case .networkName: NetworkName.isValid(text) ? text : nil
            case .choice(let names, _), .sectionOrWord(let names):
                names.contains(text) ? text : nil
            default: mismatch(key)
            }
        }
    }

    package func choice<Choice: RawRepresentable>(_ key: String) -> Choice?
    where Choice.RawValue == String {
        text(key).flatMap(Choice.init)
    }

    package func integer(_ key: String) -> Int {
        needed(
            key,
            read(key, plainOnly: true) { form, text in
                switch form {
                case .integer(let range): Quantity.integer(text).flatMap { within(range, $0) }
                case .size(let range): Quantity.bytes(text).flatMap { within(range, $0) }
                default: mismatch(key)
                }
            })
    }

    /// Nil if the key was not given, or is wrong.
    package func integerIfGiven(_ key: String) -> Int? {
        read(key, plainOnly: true) { form, text in
            guard case .integer(let range) = form else { return mismatch(key) }
            return Quantity.integer(text).flatMap { within(range, $0) }
        }
    }

    /// A number, or a share with its sign, as it is written; nil if the key was not given, or is
    /// wrong.
    func change(_ key: String) -> String? {
        read(key) { _, text in
            let digits = text.hasSuffix("%") ? String(text.dropLast()) : text
            return Quantity.decimal(digits).flatMap { $0.hasPrefix("-") ? nil : text }
        }
    }

    /// As it is written; nil if the key was not given, or is wrong.
    package func decimalIfGiven(_ key: String) -> String? {
        read(key, plainOnly: true) { _, text in Quantity.decimal(text) }
    }

    /// As it is written: what it is worth is not for this room to say.
    package func decimal(_ key: String) -> String {
        needed(key, read(key, plainOnly: true) { _, text in Quantity.decimal(text) })
    }

    package func flag(_ key: String) -> Bool { needed(key, flagIfGiven(key)) }

    /// The table's default if the key was not given, or is wrong; nil where it has none.
    package func flagIfGiven(_ key: String) -> Bool? {
        read(key, plainOnly: true) { _, text in
            text == "true" ? true : text == "false" ? false : nil
        }
    }

    package func duration(_ key: String) -> Duration { needed(key, durationIfGiven(key)) }

    /// The table's default if the key was not given, or is wrong; nil where it has none.
    package func durationIfGiven(_ key: String) -> Duration? {
        read(key) { form, text in
            guard case .duration(let range) = form else { return mismatch(key) }
            return Quantity.duration(text).flatMap { within(range, $0) }
        }
    }

    /// The entries of a list with their places; `isGood` says whether one is what the table names.
    /// Empty if the key was not given.
    package func list(
        _ key: String, where isGood: (String) -> Bool = { _ in true }
    ) -> [(text: String, mark: Mark)] {
        guard let form = table.key(key)?.form, case .list(let element, let most) = form else {
            return mismatch(key)
        }
        guard let node = values[key] else { return [] }
        guard case .sequence(let items) = node.value, items.count <= most else {
            mistakes.add(node.mark, "\(key) must be \(form.expected)")
            return []
        }
        return items.compactMap { item in
            guard case .scalar(let text, _) = item.value else {
                mistakes.add(item.mark, "an entry of \(key) must be \(element)")
                return nil
            }
            guard PlainText.isPrintable(text), isGood(text) else {
                mistakes.add(
                    item.mark, "\(key) has '\(PlainText.shown(text))'; it must be \(element)")
                return nil
            }
            if let found = InvisibleCharacter(in: text) {
                mistakes.add(item.mark, found.advice("an entry of \(key)"))
            }
            return (text, item.mark)
        }
    }

    // MARK: Parts

    /// The value that was given, otherwise the default; `decode` gives nil for what does not fit.
    private func read<Value>(
        _ name: String, plainOnly: Bool = false, _ decode: (Key.Form, String) -> Value?
    ) -> Value? {
        guard let key = table.key(name) else { return mismatch(name) }
        let standard =
            if case .value(let text) = key.standard { decode(key.form, text) } else { Value?.none }
        guard let node = values[name] else { return standard }
        guard case .scalar(let text, let isQuoted) = node.value else {
            mistakes.add(node.mark, "\(name) must be \(key.form.expected)")
            return standard
        }
        if text.isEmpty, !isQuoted {
            mistakes.add(node.mark, "\(name) has no value; it must be \(key.form.expected)")
            return standard
        }
        if !(plainOnly && isQuoted), let value = decode(key.form, text) { return value }
        mistakes.add(node.mark, Self.refusal(ofValue: text, plainOnly && isQuoted, key))
        return standard
    }

    private static func refusal(ofValue text: String, _ isQuoted: Bool, _ key: Key) -> String {
        let expected = key.form.expected
        if case .choice(_, let later) = key.form, later.contains(text) {
            return "\(key.name): \(text) is not in this version; it must be \(expected)"
        }
        return "\(key.name) is '\(PlainText.shown(text))'; it must be \(expected)"
            + (isQuoted ? ", without quotation marks" : "")
    }

    private static func refusal(of key: String, _ table: KeyTable) -> String {
        if table.later.contains(key) {
            return "\(key) is not in this version; leave it out"
        }
        return "unknown key \(PlainText.shown(key)) in \(table.name); "
            + Suggestion.text(for: key, among: table.keys.map(\.name))
    }

    private func within<Value>(_ range: ClosedRange<Value>, _ value: Value) -> Value? {
        range.contains(value) ? value : nil
    }

    private func needed<Value>(_ key: String, _ value: Value?) -> Value {
        guard let value else {
            preconditionFailure("\(key) in \(table.name) has no default of its own type")
        }
        return value
    }

    private func mismatch<Value>(_ key: String) -> Value {
        preconditionFailure("\(key) is read as what the table of \(table.name) does not say")
    }
}
