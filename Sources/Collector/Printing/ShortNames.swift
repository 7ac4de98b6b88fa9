/// Names made fit for a column, so that those that differ go on to differ: shortened in the middle,
/// elsewhere where that would make two of them the same, and numbered at worst.
struct ShortNames {
    private var shown: [String: String] = [:]

    /// - Parameters:
    ///   - names: in any order; the same name may come several times.
    ///   - columns: 4 and more.
    init(_ names: some Sequence<String>, columns: Int) {
        let distinct = Set(names).sorted().map { (name: $0, printable: PrintableText($0)) }
        let isShort = { (text: PrintableText) in text.width <= columns }
        var taken: Set<String> = []
        var long: [(name: String, printable: PrintableText)] = []
        for entry in distinct {
            let isFree = isShort(entry.printable) && taken.insert(entry.printable.text).inserted
            if isFree { shown[entry.name] = entry.printable.text } else { long.append(entry) }
        }
        let heads = Self.heads(columns)
        // One place for all of them, if there is one; else each has its own.
        let common = heads.first { head in
            var texts = taken
            return long.allSatisfy {
                texts.insert($0.printable.shortened(to: columns, head: head)).inserted
            }
        }
        var number = 2
        for entry in long {
            let own = common.map { [$0] } ?? heads
            let text =
                own.lazy.map { entry.printable.shortened(to: columns, head: $0) }
                .first { !taken.contains($0) }
                ?? Self.numbered(entry.printable, columns, taken, from: &number)
            taken.insert(text)
            shown[entry.name] = text
        }
    }

    subscript(name: String) -> String { shown[name] ?? PrintableText(name).text }

    /// Columns before the dots, the middle first.
    private static func heads(_ columns: Int) -> [Int] {
        let middle = (columns - 1) / 2
        return (0..<columns).sorted { (abs($0 - middle), $0) < (abs($1 - middle), $1) }
    }

    /// - Parameter number: the first that was not tried yet.
    private static func numbered(
        _ text: PrintableText, _ columns: Int, _ taken: Set<String>, from number: inout Int
    ) -> String {
        while true {
            let end = "~\(number)"
            number += 1
            let room = max(columns - end.utf8.count, 1)
            let shown = text.shortened(to: room, head: room - 1) + end
            if !taken.contains(shown) { return shown }
        }
    }
}
