import Collector
import Fleet

/// A column of a table that fits terminals of any width.
struct TopColumn: Hashable {
    var title: String
    /// Columns that it needs, and those that it takes where there is room.
    var least: Int
    var most: Int
    var isRight = false
    /// On a narrow terminal the columns with the greatest rank go first; 0 stays.
    var rank = 0

    init(_ title: String, _ least: Int, _ most: Int? = nil, isRight: Bool = false, rank: Int = 0) {
        self.title = title
        self.least = least
        self.most = max(most ?? least, least)
        self.isRight = isRight
        self.rank = rank
    }
}

/// How rows are sorted by a column.
enum TopOrder: Hashable, Comparable {
    /// Before all numbers: what has none.
    case nothing
    case number(Double)
    case text(String)

    static func < (left: TopOrder, right: TopOrder) -> Bool {
        switch (left, right) {
        case (.number(let one), .number(let two)): one < two
        case (.text(let one), .text(let two)): NaturalOrder.isBefore(one, two)
        case (.nothing, .number), (.nothing, .text), (.number, .text): true
        case (.nothing, .nothing), (.number, .nothing), (.text, _): false
        }
    }
}

/// Which columns have room, and how wide they are.
struct TopLayout: Hashable {
    /// Indices of the columns that are shown, with their widths.
    private(set) var columns: [(index: Int, width: Int)] = []

    /// - Parameters:
    ///   - wanted: columns that the longest cell of each takes.
    ///   - empty: those in which no cell says anything: they go first.
    init(_ all: [TopColumn], wanted: [Int], empty: Set<Int> = [], width: Int) {
        var shown = Array(all.indices)
        func least(_ indices: [Int]) -> Int {
            indices.reduce(max(indices.count - 1, 0)) { $0 + all[$1].least }
        }
        while least(shown) > width {
            func order(_ index: Int) -> (Int, Int, Int) {
                (empty.contains(index) ? 1 : 0, all[index].rank, index)
            }
            let gone = shown.filter { all[$0].rank > 0 }.max { order($0) < order($1) }
            guard let gone else { break }
            shown.removeAll { $0 == gone }
        }
        var widths = shown.map { all[$0].least }
        var left = width - least(shown)
        // What is left goes to those that want more, the first ones first.
        for (place, index) in shown.enumerated() where left > 0 {
            let more = min(min(wanted[index], all[index].most) - widths[place], left)
            guard more > 0 else { continue }
            widths[place] += more
            left -= more
        }
        columns = Array(zip(shown, widths))
    }

    static func == (left: TopLayout, right: TopLayout) -> Bool {
        left.columns.map(\.index) == right.columns.map(\.index)
            && left.columns.map(\.width) == right.columns.map(\.width)
    }

    func hash(into hasher: inout Hasher) { hasher.combine(columns.map(\.width)) }

    /// A line of cells, in the order of all columns.
    func line(_ cells: [String], _ all: [TopColumn]) -> String {
        columns.map { index, width in
            PrintableText(cells[index]).fitted(to: width, alignRight: all[index].isRight)
        }.joined(separator: " ")
    }

    func width(of index: Int) -> Int { columns.first { $0.index == index }?.width ?? 0 }
}

/// What a row is, beside its text.
enum TopStyle: Hashable {
    case plain, warning, fault, faint

    /// ECMA-48 §8.3.117.
    func around(_ text: String, isSelected: Bool, hasColours: Bool) -> String {
        var codes: [String] = isSelected ? ["7"] : []
        if hasColours {
            switch self {
            case .plain: break
            case .warning: codes.append("33")
            case .fault: codes.append("31")
            case .faint: codes.append("2")
            }
        }
        guard !codes.isEmpty else { return text }
        return "\u{1b}[\(codes.joined(separator: ";"))m\(text)\u{1b}[0m"
    }
}
